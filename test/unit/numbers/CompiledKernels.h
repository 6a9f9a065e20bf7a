/// CompiledKernels.h: expressions of elementwise ops as machine code, made by the compiler that
/// users' programs go through: kernel dialect, vector lowering, linked bitcode, EmitObject.
///
///   Expression product{{DType::Float32, DType::Float32}, {{"mul", {0, 1}, DType::Float32}}};
///   CompiledExpression compiled(product, kX86V4);
///   compiled.runRows({x, y}, out, /*rows=*/1, /*inner=*/1 << 17);
///
/// Operands and results are contiguous. A kernel that does not compile fails the test.
#pragma once

#include "tracert/DType.h"
#include "tracert/Target.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace numbers {

/// Values are numbered: first the operands of the expression, then each step's result.
struct Step {
  std::string op; ///< a pointwise op's name, where and cast included
  std::vector<int> operands;
  tracert::DType result;
};

/// The result is the last step's.
struct Expression {
  std::vector<tracert::DType> operands;
  std::vector<Step> steps;

  tracert::DType dtypeOf(int value) const {
    int first = int(operands.size());
    return value < first ? operands[size_t(value)] : steps[size_t(value - first)].result;
  }
  tracert::DType result() const { return steps.back().result; }
  std::string text() const;
};

class CompiledExpression {
public:
  CompiledExpression(const Expression &expression, tracert::Target target);
  ~CompiledExpression();

  /// Vector lanes, and for `inner` of no multiple of the lanes the tail: masked or single lanes.
  void runRows(const std::vector<const void *> &operands, void *result, int64_t rows,
               int64_t inner) const;
  /// One element per call, in single lanes.
  void runSingly(const std::vector<const void *> &operands, void *result, int64_t count) const;

private:
  struct Kernels;
  std::unique_ptr<Kernels> kernels;
};

/// Those with compiled code that this machine can run.
std::vector<tracert::Target> compiledTargets();

/// Runs the expression's kernels of each level over `count` elements, a multiple of 7: as one long
/// row, as rows that are all tail, one element at a time. check(name) looks at `result`, which is
/// overwritten before each run.
void compareCompiled(const Expression &expression, const std::vector<const void *> &operands,
                     uint8_t *result, int64_t count,
                     const std::function<void(const std::string &)> &check);

} // namespace numbers
