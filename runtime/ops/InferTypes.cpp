#include "ops/rules/AllRules.h"

namespace tracert {
namespace rules {
namespace {

bool isUsable(const IndexItem &item) {
  bool hasBegin = item.kind == IndexItemKind::Slice || item.kind == IndexItemKind::Int;
  return item.kind <= IndexItemKind::Mask && item.step != 0 && item.maskRank <= kMaxRank &&
         (hasBegin || !item.beginIsOperand) &&
         (item.kind == IndexItemKind::Slice || !item.endIsOperand);
}

/// Attributes may come from a file: kinds and counts are checked before a rule reads them.
Status checkAttrs(const OpCall &call) {
  const OpInfo &info = call.info();
  if (call.attrs.size() != info.attrCount) {
    return Status::invalidArgument(opPrefix(call) + "takes " + std::to_string(info.attrCount) +
                                   " attributes, got " + std::to_string(call.attrs.size()));
  }
  for (size_t i = 0; i < call.attrs.size(); ++i) {
    const AttrValue &attr = call.attrs[i];
    bool isGood = attr.kind() == info.attrs[i].kind;
    if (isGood && attr.kind() == AttrKind::DType) {
      isGood = isKnownDType(static_cast<uint8_t>(attr.asDType()));
    }
    if (isGood && attr.kind() == AttrKind::Scalar) {
      isGood = isKnownDType(static_cast<uint8_t>(attr.asScalar().dtype));
    }
    if (isGood && attr.kind() == AttrKind::Index) {
      isGood = attr.sharedIndex() != nullptr;
      if (isGood) {
        for (const IndexItem &item : attr.asIndex().items) {
          isGood = isGood && isUsable(item);
        }
      }
    }
    if (isGood && attr.kind() == AttrKind::String) {
      isGood = attr.hasText() && info.attrs[i].allows(attr.asText());
    }
    if (!isGood) {
      return Status::invalidArgument(opPrefix(call) + "attribute '" +
                                     std::string(info.attrs[i].name) + "' is malformed");
    }
  }
  return {};
}

/// Operands beyond the fixed ones: sizes of a `shape`, operands of index items.
size_t extraOperandCount(const OpCall &call) {
  size_t count = 0;
  for (const AttrValue &attr : call.attrs) {
    if (attr.kind() == AttrKind::Ints) {
      for (int64_t entry : attr.asInts()) {
        count += entry == kFromOperand;
      }
    } else if (attr.kind() == AttrKind::Index) {
      count += static_cast<size_t>(attr.asIndex().operandCount());
    }
  }
  return count;
}

/// Each fixed operand has a dtype of its set in the record.
Status checkOperandDTypes(const OpCall &call, Operands operands) {
  const OpInfo &info = call.info();
  for (size_t i = 0; i < operands.size(); ++i) {
    DType dtype = operands[i].type.dtype;
    uint32_t allowed = info.operands ? info.operands[i].dtypes : info.dtypes;
    if (allowed & dtypeBit(dtype)) {
      continue;
    }
    if (allowed == dtypeBit(DType::Bool) && info.operandCount > 1) {
      return Status::invalidType(opPrefix(call) + std::string(info.operands[i].name) +
                                 " must be bool, got " + std::string(dtypeName(dtype)));
    }
    return Status::invalidType(opPrefix(call) + "does not take " + std::string(dtypeName(dtype)));
  }
  return {};
}

Status checkCall(const OpCall &call, Operands operands) {
  TRACERT_TRY(checkAttrs(call));
  for (const OperandInfo &operand : operands) {
    TRACERT_TRY(checkLimits(call, operand.type));
  }
  const OpInfo &info = call.info();
  if (info.operandCount < 0) {
    if (operands.empty()) {
      return Status::invalidArgument(opPrefix(call) + "needs at least one operand");
    }
    return checkOperandDTypes(call, operands);
  }
  size_t wanted = static_cast<size_t>(info.operandCount) + extraOperandCount(call);
  if (operands.size() != wanted) {
    return Status::invalidArgument(opPrefix(call) + "takes " + std::to_string(wanted) +
                                   " operands, got " + std::to_string(operands.size()));
  }
  return checkOperandDTypes(call, operands.first(static_cast<size_t>(info.operandCount)));
}

Result<ResultTypes> checkedTypes(const NumberMath &math, const OpCall &call, Operands operands) {
  TRACERT_TRY(checkCall(call, operands));
  Result<ResultTypes> types = familyTypes(math, call, operands);
  if (types.ok()) {
    for (const TensorType &type : *types) {
      TRACERT_TRY(checkLimits(call, type));
    }
  }
  return types;
}

} // namespace

Status differentDTypes(const OpCall &call, DType a, DType b) {
  return Status::invalidType(opPrefix(call) + "operands must have one dtype, got " +
                             std::string(dtypeName(a)) + " and " + std::string(dtypeName(b)));
}

Status checkAllowedDType(const OpCall &call, DType dtype) {
  if (call.info().dtypes & dtypeBit(dtype)) {
    return {};
  }
  return Status::invalidType(opPrefix(call) + "does not take " + std::string(dtypeName(dtype)));
}

Status checkAxes(const OpCall &call, const Dims &axes, size_t rank) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= static_cast<int64_t>(rank)) {
      return Status::axisOutOfRange(opPrefix(call) + "axis " + std::to_string(axes[i]) +
                                    " is out of range for rank " + std::to_string(rank));
    }
    if (i > 0 && axes[i] <= axes[i - 1]) {
      return Status::invalidArgument(
          opPrefix(call) + "axes must ascend without repeats, got axis " + std::to_string(axes[i]) +
          " after " + std::to_string(axes[i - 1]));
    }
  }
  return {};
}

} // namespace rules

Result<ResultTypes> inferTypes(const OpCall &call, std::span<const OperandInfo> operands) {
  return rules::checkedTypes(rules::NumberMath(), call, operands);
}

Result<ResultTypes> inferTypesWithCounts(const OpCall &call, std::span<const OperandInfo> operands,
                                         std::span<const int64_t> counts) {
  return rules::checkedTypes(rules::NumberMath(counts), call, operands);
}

Result<std::optional<TensorView>> viewOf(const OpCall &call, const TensorView &operand,
                                         std::span<const int64_t> sizeOperands) {
  TRACERT_TRY(rules::checkAttrs(call));
  if (sizeOperands.size() != rules::extraOperandCount(call)) {
    return Status::internal(rules::opPrefix(call) + "view got " +
                            std::to_string(sizeOperands.size()) + " size values");
  }
  if (!call.info().has(kTraitView)) {
    return Status::internal(rules::opPrefix(call) + "is not a view");
  }
  if (call.info().family == OpFamily::Indexing) {
    return rules::subtensorView(call, operand, sizeOperands);
  }
  return rules::shapeView(call, operand, sizeOperands);
}

} // namespace tracert
