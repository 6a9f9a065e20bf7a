// The rules of guards: what a record took for granted must hold for the sizes and strides of this
// call. Sizes that are not known yet pass; the rule runs again when they are.
#include "ops/IndexWalk.h"
#include "ops/TypeRules.h"
#include "ops/rules/Views.h"

#include <limits>

namespace tracert {
namespace rules {
namespace {

Status guardOne(const OpCall &call, Operands operands) {
  const Dims &shape = operands[0].type.shape;
  int64_t axis = attrs::axis(call);
  TRACERT_TRY(checkAxes(call, {axis}, shape.size()));
  int64_t size = shape[static_cast<size_t>(axis)];
  bool wasOne = attrs::is_one(call);
  if (isUnknown(size) || (size == 1) == wasOne) {
    return {};
  }
  return Status::guardFailed("axis " + std::to_string(axis) + " of a tensor of shape " +
                             shapeString(shape) +
                             (wasOne ? " had size 1" : " had another size than 1") +
                             " when this was recorded, and the function hangs on that");
}

Status guardSameShape(Operands operands) {
  const TensorType &old = operands[0].type;
  const TensorType &now = operands[1].type;
  if (!old.isFullyKnown() || !now.isFullyKnown() || old.shape == now.shape) {
    return {};
  }
  return shapeWouldChange(old.shape, now.shape);
}

constexpr int64_t kReshape = 0, kStrided = 1, kBroadcast = 2;

/// Reads `layout` one step at a time and follows how the values lie in memory.
class ViewChain {
public:
  ViewChain(const OpCall &call, Operands operands)
      : call(call), operands(operands), layout(attrs::layout(call)) {}

  /// Whether the last step is a view; nullopt while that is not known.
  Result<std::optional<bool>> run() {
    bool isKnown = true;
    for (const OperandInfo &operand : operands) {
      isKnown = isKnown && operand.type.isFullyKnown();
    }
    bool ofInput = attrs::of_input(call);
    isKnown = isKnown && (!ofInput || operands[0].strides);
    view = TensorView::contiguous(nullptr, isKnown ? operands[0].type : TensorType{});
    if (isKnown && ofInput) {
      view.strides = *operands[0].strides;
    }
    bool isView = true;
    for (size_t step = 1; step < operands.size(); ++step) {
      TRACERT_TRY(follow(operands[step].type, isKnown, isView));
    }
    if (next != layout.size() || operands.size() < 2 || tag != kReshape) {
      return malformed();
    }
    return isKnown ? std::optional(isView) : std::nullopt;
  }

private:
  Status malformed() const {
    return Status::invalidArgument(opPrefix(call) + "has a malformed layout");
  }

  Status follow(const TensorType &type, bool isKnown, bool &isView) {
    if (next >= layout.size()) {
      return malformed();
    }
    tag = layout[next++];
    size_t first = next;
    if (tag == kStrided) {
      next += 2 * type.rank();
    }
    if (tag < kReshape || tag > kBroadcast || next > layout.size()) {
      return malformed();
    }
    if (!isKnown) {
      return {};
    }
    TensorView result = TensorView::contiguous(nullptr, type);
    if (tag == kReshape) {
      if (checkedProduct(view.shape) != checkedProduct(type.shape)) {
        return malformed();
      }
      std::optional<Dims> strides =
          reshapedStrides(NumberMath(), {view.shape, view.strides}, type.shape,
                          static_cast<int64_t>(dtypeSize(view.dtype)));
      isView = strides.has_value();
      result.strides = isView ? *strides : result.strides;
    } else if (tag == kBroadcast) {
      if (refusesRepeat(NumberMath(), view.shape, type.shape)) {
        return malformed();
      }
      result = broadcastView(view, type.shape);
    } else {
      TRACERT_TRY(stride(result, first));
    }
    view = std::move(result);
    return {};
  }

  Status stride(TensorView &result, size_t first) const {
    for (size_t axis = 0; axis < result.rank(); ++axis) {
      int64_t source = layout[first + 2 * axis];
      if (source < -1 || source >= static_cast<int64_t>(view.rank())) {
        return malformed();
      }
      int64_t stride = source < 0 ? 0 : view.strides[static_cast<size_t>(source)];
      if (!multiply(stride, layout[first + 2 * axis + 1], result.strides[axis])) {
        return malformed();
      }
    }
    return {};
  }

  const OpCall &call;
  Operands operands;
  const Dims &layout;
  size_t next = 0;
  int64_t tag = -1;
  TensorView view;
};

Status guardView(const OpCall &call, Operands operands) {
  TRACERT_ASSIGN(std::optional<bool> isView, ViewChain(call, operands).run());
  bool wasView = attrs::is_view(call);
  if (!isView || *isView == wasView) {
    return {};
  }
  const Dims &from = operands[operands.size() - 2].type.shape;
  return Status::guardFailed(
      "the reshape of shape " + shapeString(from) + " to " +
      shapeString(operands.back().type.shape) + " is a " + (wasView ? "copy" : "view") +
      " and was a " + (wasView ? "view" : "copy") +
      " when this was recorded, and the function writes to what may be the same memory");
}

Status guardFits(const OpCall &call, Operands operands) {
  TRACERT_TRY(checkAllowedDType(call, operands[0].type.dtype));
  if (operands[0].type.rank() != 0 || !isInteger(attrs::dtype(call))) {
    return Status::invalidType(opPrefix(call) + "expects an integer of rank 0, got " +
                               operands[0].type.str());
  }
  return {};
}

} // namespace

Status NumberMath::checkGuard(const OpCall &call, std::span<const OperandInfo> operands) const {
  switch (call.kind) {
  case OpKind::guard_one:
    return guardOne(call, operands);
  case OpKind::guard_same_shape:
    return guardSameShape(operands);
  case OpKind::guard_view:
    return guardView(call, operands);
  default:
    return guardFits(call, operands);
  }
}

} // namespace rules

void appendViewLayout(const OpCall &call, size_t operandRank, Dims &layout) {
  const OpInfo &info = call.info();
  if (info.has(kTraitKeepsOrder) || info.has(kTraitRepeats)) {
    layout.push_back(info.has(kTraitKeepsOrder) ? rules::kReshape : rules::kBroadcast);
    return;
  }
  layout.push_back(rules::kStrided);
  auto add = [&](int64_t axis, int64_t step) {
    layout.push_back(axis);
    layout.push_back(step);
  };
  if (info.has(kTraitPermutes)) {
    for (int64_t axis : attrs::axes(call)) {
      add(axis, 1);
    }
    return;
  }
  size_t used = 0;
  for (ItemPlace place : IndexWalk(attrs::items(call))) {
    used = place.axis + axesUsed(place.item);
    if (place.item.kind == IndexItemKind::NewAxis) {
      add(-1, 0);
    } else if (place.item.kind == IndexItemKind::Slice) {
      add(static_cast<int64_t>(place.axis), place.item.step);
    }
  }
  for (; used < operandRank; ++used) {
    add(static_cast<int64_t>(used), 1);
  }
}

Status shapeWouldChange(const Dims &from, const Dims &to) {
  return Status::invalidArgument("an operator in place would change the shape " +
                                 shapeString(from) + " to " + shapeString(to) +
                                 "; write x = x op y instead");
}

Status integerDoesNotFit(const std::string &integer, DType dtype) {
  return Status::overflow("Python integer " + integer + " out of bounds for " +
                          std::string(dtypeName(dtype)) +
                          "; convert the tensor to a wider dtype first, e.g. x.astype(tc.int64)");
}

} // namespace tracert
