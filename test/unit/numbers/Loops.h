/// Loops.h: every elementwise loop of a table of kernel cores, by name and dtypes.
///
///   for (const Loop &loop : allLoops()) loop.find(*variant.cores)(inputs, strides, out, stride,
///   n);
#pragma once

#include "CompiledKernels.h"
#include "Inputs.h"
#include "Variants.h"

#include <functional>

namespace numbers {

/// One loop of the table: an op at a dtype, where, or a cast.
struct Loop {
  std::string op;
  std::vector<DType> operands;
  DType result;
  std::function<tracert::ElementwiseLoop(const tracert::KernelCores &)> find;

  std::string name() const {
    return op + " of " + shortName(operands.back()) + " to " + shortName(result);
  }
  Expression expression() const {
    Expression one{operands, {{op, {}, result}}};
    for (size_t i = 0; i < operands.size(); ++i) {
      one.steps[0].operands.push_back(int(i));
    }
    return one;
  }
};

const std::vector<Loop> &allLoops();

} // namespace numbers
