#include "Ops/Views.h"

#include "tracert/generated/OpAttrs.h"

#include <vector>

namespace tracec {

using tracert::AttrValue;
using tracert::Dims;
using tracert::OpCall;
using tracert::OpKind;
using tracert::Result;
using tracert::Status;
using Handle = OpEmitter::Handle;

namespace {

Result<Handle> putSubtensorBack(const OpCall &view, std::span<const Handle> operands, Handle part,
                                OpEmitter &emitter) {
  std::vector<Handle> setOperands(operands.begin(), operands.end());
  setOperands.insert(setOperands.begin() + 1, part);
  return emitter.emit({OpKind::set_subtensor, view.attrs}, setOperands);
}

Result<Handle> permuteBack(const OpCall &view, Handle part, OpEmitter &emitter) {
  const Dims &axes = tracert::attrs::axes(view);
  Dims inverse(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    inverse[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
  }
  return emitter.emit({OpKind::permute, {AttrValue::ints(inverse)}}, std::span(&part, 1));
}

/// Sizes that may change are ops' results.
Result<Handle> reshapeBack(Handle base, Handle part, OpEmitter &emitter) {
  std::vector<Handle> operands{part};
  Dims shape = emitter.typeOf(base).shape;
  for (size_t i = 0; i < shape.size(); ++i) {
    TRACERT_ASSIGN(std::optional<int64_t> fixed, emitter.fixedSize(base, i));
    if (fixed) {
      shape[i] = *fixed;
      continue;
    }
    OpCall sizeCall{OpKind::axis_size, {AttrValue::ints(Dims{static_cast<int64_t>(i)})}};
    TRACERT_ASSIGN(Handle size, emitter.emit(sizeCall, std::span(&base, 1)));
    operands.push_back(size);
    shape[i] = tracert::kFromOperand;
  }
  return emitter.emit({OpKind::reshape, {AttrValue::ints(shape)}}, operands);
}

} // namespace

bool canPutBack(const OpCall &view) {
  return view.info().has(tracert::kTraitView) && !view.info().has(tracert::kTraitRepeats);
}

Result<Handle> putBack(const OpCall &view, std::span<const Handle> operands, Handle part,
                       OpEmitter &emitter) {
  const tracert::OpInfo &info = view.info();
  if (info.isBasicRead()) {
    return putSubtensorBack(view, operands, part, emitter);
  }
  if (info.has(tracert::kTraitPermutes)) {
    return permuteBack(view, part, emitter);
  }
  if (info.has(tracert::kTraitKeepsOrder)) {
    return reshapeBack(operands[0], part, emitter);
  }
  return Status::invalidArgument("this view is read-only (it was made by '" +
                                 std::string(info.name) + "'); write to a copy of it instead");
}

bool putsBackReordered(const OpCall &view) { return view.info().has(tracert::kTraitPermutes); }

} // namespace tracec
