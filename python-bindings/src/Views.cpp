#include "Views.h"

#include <algorithm>
#include <string>

namespace tracec::python {

using tracert::AttrValue;
using tracert::IndexItemKind;
using tracert::IndexItems;
using tracert::OpCall;
using tracert::OpKind;

namespace {

Result<int64_t> normalizeAxis(int64_t axis, size_t rank) {
  int64_t signedRank = static_cast<int64_t>(rank);
  if (axis < -signedRank || axis >= signedRank) {
    return Status::axisOutOfRange("axis " + std::to_string(axis) + " is out of range for rank " +
                                  std::to_string(rank));
  }
  return axis < 0 ? axis + signedRank : axis;
}

/// One flag per axis; a repeated axis is an error.
Result<std::vector<bool>> selectAxes(const Dims &axes, size_t rank) {
  std::vector<bool> selected(rank);
  for (int64_t axis : axes) {
    TRACERT_ASSIGN(int64_t position, normalizeAxis(axis, rank));
    if (selected[static_cast<size_t>(position)]) {
      return Status::invalidArgument("axis " + std::to_string(axis) + " is given twice");
    }
    selected[static_cast<size_t>(position)] = true;
  }
  return selected;
}

Result<Tensor> subtensor(const Tensor &x, IndexItems items) {
  auto shared = std::make_shared<const IndexItems>(std::move(items));
  return x.view(OpCall{OpKind::subtensor, {AttrValue::index(std::move(shared))}}, {});
}

/// A decision that a trace must know of.
Result<bool> sizeIsOne(const Tensor &x, size_t axis) {
  TRACERT_ASSIGN(Value value, x.read());
  return stack().decideIsOne(value, axis);
}

} // namespace

Result<Tensor> reshapeTensor(const Tensor &x, std::span<const SizeArg> sizes) {
  ShapeArgs shape = makeShapeArgs(sizes);
  return x.view(reshapeCall(shape.shape), shape.extras);
}

Result<Tensor> broadcastTensor(const Tensor &x, std::span<const SizeArg> sizes) {
  ShapeArgs shape = makeShapeArgs(sizes);
  return x.view(broadcastToCall(shape.shape), shape.extras);
}

Result<Tensor> permuteTensor(const Tensor &x, const std::optional<Dims> &axes) {
  TRACERT_ASSIGN(Value value, x.read());
  TRACERT_ASSIGN(OpCall call, permuteCall(value, axes));
  // The view must be the only holder, or a later write could not be in place.
  value = Value();
  return x.view(call, {});
}

Result<Tensor> swapAxes(const Tensor &x, int64_t first, int64_t second) {
  TRACERT_ASSIGN(TensorType type, x.type());
  TRACERT_ASSIGN(int64_t a, normalizeAxis(first, type.rank()));
  TRACERT_ASSIGN(int64_t b, normalizeAxis(second, type.rank()));
  Dims axes(type.rank());
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i] = static_cast<int64_t>(i);
  }
  std::swap(axes[static_cast<size_t>(a)], axes[static_cast<size_t>(b)]);
  return permuteTensor(x, axes);
}

Result<Tensor> transposeMatrix(const Tensor &x) {
  TRACERT_ASSIGN(TensorType type, x.type());
  if (type.rank() < 2) {
    return Status::invalidArgument("mT needs a tensor of rank 2 or more, got shape " +
                                   tracert::shapeString(type.shape));
  }
  return swapAxes(x, -1, -2);
}

Result<Tensor> moveAxes(const Tensor &x, const Dims &from, const Dims &to) {
  TRACERT_ASSIGN(TensorType type, x.type());
  size_t rank = type.rank();
  if (from.size() != to.size()) {
    return Status::invalidArgument("moveaxis got " + std::to_string(from.size()) +
                                   " source axes and " + std::to_string(to.size()) +
                                   " destination axes");
  }
  TRACERT_ASSIGN(std::vector<bool> moved, selectAxes(from, rank));
  TRACERT_ASSIGN(std::vector<bool> taken, selectAxes(to, rank));
  Dims axes(rank);
  for (size_t i = 0; i < from.size(); ++i) {
    TRACERT_ASSIGN(int64_t source, normalizeAxis(from[i], rank));
    TRACERT_ASSIGN(int64_t target, normalizeAxis(to[i], rank));
    axes[static_cast<size_t>(target)] = source;
  }
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    if (taken[i]) {
      continue;
    }
    while (moved[next]) {
      ++next;
    }
    axes[i] = static_cast<int64_t>(next++);
  }
  return permuteTensor(x, axes);
}

Result<Tensor> squeezeAxes(const Tensor &x, const std::optional<Dims> &axes) {
  TRACERT_ASSIGN(TensorType type, x.type());
  std::vector<bool> selected(type.rank());
  if (axes) {
    TRACERT_ASSIGN(selected, selectAxes(*axes, type.rank()));
  }
  IndexItems items;
  for (size_t i = 0; i < type.rank(); ++i) {
    if (axes && !selected[i]) {
      items.items.push_back({.kind = IndexItemKind::Slice});
      continue;
    }
    TRACERT_ASSIGN(bool isOne, sizeIsOne(x, i));
    if (axes && !isOne) {
      return Status::invalidArgument("squeeze of axis " + std::to_string(i) + " of size " +
                                     std::to_string(type.shape[i]) + "; only size 1 can go");
    }
    items.items.push_back({.kind = isOne ? IndexItemKind::Int : IndexItemKind::Slice});
  }
  return subtensor(x, std::move(items));
}

Result<Tensor> expandAxes(const Tensor &x, const Dims &axes) {
  TRACERT_ASSIGN(TensorType type, x.type());
  size_t rank = type.rank() + axes.size();
  if (rank > tracert::kMaxRank) {
    return Status::invalidArgument("expand_dims gives " + std::to_string(rank) +
                                   " axes, the limit is " + std::to_string(tracert::kMaxRank));
  }
  TRACERT_ASSIGN(std::vector<bool> isNew, selectAxes(axes, rank));
  IndexItems items;
  for (size_t i = 0; i < rank; ++i) {
    items.items.push_back({.kind = isNew[i] ? IndexItemKind::NewAxis : IndexItemKind::Slice});
  }
  return subtensor(x, std::move(items));
}

Result<Tensor> flipAxes(const Tensor &x, const std::optional<Dims> &axes) {
  TRACERT_ASSIGN(TensorType type, x.type());
  std::vector<bool> flipped(type.rank(), true);
  if (axes) {
    TRACERT_ASSIGN(flipped, selectAxes(*axes, type.rank()));
  }
  IndexItems items;
  for (size_t i = 0; i < type.rank(); ++i) {
    items.items.push_back({.kind = IndexItemKind::Slice, .step = flipped[i] ? -1 : 1});
  }
  return subtensor(x, std::move(items));
}

} // namespace tracec::python
