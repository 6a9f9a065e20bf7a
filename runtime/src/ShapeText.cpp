#include "tracert/Tensor.h"

namespace tracert {
namespace {

std::string dimString(int64_t dim) { return dim == kUnknownDim ? "?" : std::to_string(dim); }

} // namespace

std::string shapeString(const Dims &shape) {
  std::string text = "(";
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    text += (axis > 0 ? ", " : "") + dimString(shape[axis]);
  }
  // Python's tuple of one.
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string TensorType::str() const {
  std::string text(dtypeName(dtype));
  text += "[";
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    text += (axis > 0 ? "," : "") + dimString(shape[axis]);
  }
  return text + "]";
}

} // namespace tracert
