#include "kernels/LoopNest.h"

namespace tracert::kernels {

LoopNest::LoopNest(const Dims &shape, std::span<const Dims *const> strides)
    : operands(strides.size()) {
  assert(operands <= kMaxOperands);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    int64_t size = shape[axis];
    if (size == 1) {
      continue;
    }
    bool merges = !axisSizes.empty();
    for (size_t i = 0; merges && i < operands; ++i) {
      merges = axisStrides[i].back() == (*strides[i])[axis] * size;
    }
    if (!merges) {
      axisSizes.push_back(1);
    }
    axisSizes.back() *= size;
    for (size_t i = 0; i < operands; ++i) {
      if (!merges) {
        axisStrides[i].push_back(0);
      }
      axisStrides[i].back() = (*strides[i])[axis];
    }
  }
  if (axisSizes.empty()) {
    axisSizes.push_back(1);
    for (size_t i = 0; i < operands; ++i) {
      axisStrides[i].push_back(0);
    }
  }
  for (size_t axis = 0; axis + 1 < axisSizes.size(); ++axis) {
    rows *= axisSizes[axis];
  }
}

void LoopNest::preferLongRows() {
  constexpr int64_t kShort = 16;
  if (rank() < 2 || rowLength() >= kShort) {
    return;
  }
  size_t longest = rank() - 1;
  for (size_t axis = rank(); axis-- > 0;) {
    if (axisSizes[axis] > axisSizes[longest]) {
      longest = axis;
    }
  }
  if (axisSizes[longest] < 4 * rowLength()) {
    return;
  }
  rows = rows / axisSizes[longest] * rowLength();
  std::swap(axisSizes[longest], axisSizes.back());
  for (size_t i = 0; i < operands; ++i) {
    std::swap(axisStrides[i][longest], axisStrides[i].back());
  }
}

void LoopNest::dropAxis(size_t axis) {
  axisSizes.erase(axis);
  for (size_t i = 0; i < operands; ++i) {
    axisStrides[i].erase(axis);
  }
  if (axisSizes.empty()) {
    axisSizes.push_back(1);
    for (size_t i = 0; i < operands; ++i) {
      axisStrides[i].push_back(0);
    }
  }
  rows = 1;
  for (size_t i = 0; i + 1 < axisSizes.size(); ++i) {
    rows *= axisSizes[i];
  }
}

} // namespace tracert::kernels
