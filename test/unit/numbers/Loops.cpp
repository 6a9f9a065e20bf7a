#include "Loops.h"

namespace numbers {

static void addOp(std::vector<Loop> &loops, const char *name, int arity, bool isBool, int index) {
  for (DType dtype : kAllDTypes) {
    auto find = [=](const tracert::KernelCores &cores) {
      return cores.elementwise[index][int(dtype)];
    };
    if (find(*coreVariants()[0].cores)) {
      loops.push_back(
          {name, std::vector<DType>(size_t(arity), dtype), isBool ? DType::Bool : dtype, find});
    }
  }
}

const std::vector<Loop> &allLoops() {
  static const std::vector<Loop> loops = [] {
    constexpr bool Same = false, Bool = true;
    std::vector<Loop> loops;
    int index = 0;
#define TRACERT_ELEMENTWISE(name, arity, result, dtypes)                                           \
  addOp(loops, #name, arity, result, index++);
#define TRACERT_SELECT(name) ++index;
#define TRACERT_CAST(name) ++index;
#include "tracert/generated/ElementwiseOps.inc"
    for (DType dtype : kAllDTypes) {
      loops.push_back(
          {"where", {DType::Bool, dtype, dtype}, dtype, [=](const tracert::KernelCores &cores) {
             return cores.select[int(dtype)];
           }});
      for (DType to : kAllDTypes) {
        loops.push_back({"cast", {dtype}, to, [=](const tracert::KernelCores &cores) {
                           return cores.cast[int(dtype)][int(to)];
                         }});
      }
    }
    return loops;
  }();
  return loops;
}

} // namespace numbers
