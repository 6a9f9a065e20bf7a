#include "Eager/Evaluate.h"

#include "Eager/DeviceValues.h"
#include "Eager/ValueEmitter.h"
#include "tracert/Element.h"
#include "tracert/FlatPointwise.h"
#include "tracert/HostCopies.h"
#include "tracert/ThreadPool.h"

namespace tracec {

using tracert::kTraitComposite;
using tracert::kTraitDataDependentShape;
using tracert::kTraitSet;
using tracert::kTraitSizeOnly;
using tracert::kTraitView;
using tracert::OperandInfo;

namespace {

/// Operands' types, with the value of size operands (those after the fixed ones).
std::vector<OperandInfo> describe(const OpCall &call, std::span<const Value> operands) {
  std::vector<OperandInfo> infos;
  infos.reserve(operands.size());
  int fixed = call.info().operandCount;
  for (size_t i = 0; i < operands.size(); ++i) {
    infos.push_back({operands[i]->type(), std::nullopt, &operands[i]->view().strides});
    if (fixed >= 0 && i >= static_cast<size_t>(fixed)) {
      infos.back().sizeValue = readySize(operands[i]);
    }
  }
  return infos;
}

Result<Value> copyElement(const TensorView &view) {
  TRACERT_ASSIGN(Value element, allocateValue({view.dtype, {}}));
  std::memcpy(element->view().data, view.data, tracert::dtypeSize(view.dtype));
  return element;
}

Result<Values> evaluateView(const OpCall &call, std::span<const Value> operands,
                            tracert::Device *device) {
  std::vector<int64_t> sizes;
  for (const Value &extra : operands.subspan(1)) {
    std::optional<int64_t> size = readySize(extra);
    if (!size) {
      return Status::invalidType("'" + std::string(call.info().name) +
                                 "' expects integers of rank 0 as sizes and bounds, got " +
                                 extra->type().str());
    }
    sizes.push_back(*size);
  }
  TRACERT_TRY(inferValueTypes(call, operands).status());
  TRACERT_ASSIGN(std::optional<TensorView> view, viewOf(call, operands[0]->view(), sizes));
  if (!view) {
    return Values{};
  }
  if (view->rank() == 0) {
    // A copy of one element, so that holding it does not keep the base from being written in place.
    TRACERT_ASSIGN(Value element, device ? copyElementOn(*device, *view) : copyElement(*view));
    element->isAlias = true;
    return Values{std::move(element)};
  }
  Value alias = ValueImpl::makeReady(operands[0]->buffer(), std::move(*view));
  alias->isAlias = true;
  return Values{std::move(alias)};
}

Result<Values> evaluateComposite(const OpCall &call, std::span<const Value> operands) {
  TRACERT_TRY(inferValueTypes(call, operands).status());
  ValueEmitter emitter(evaluate);
  std::vector<OpEmitter::Handle> handles;
  for (const Value &operand : operands) {
    handles.push_back(emitter.add(operand));
  }
  TRACERT_ASSIGN(OpEmitter::Handle result, decompose(call, handles, emitter));
  return Values{emitter[result]};
}

/// False for broadcast views, whose positions share memory and must not be written one by one.
bool hasDistinctElements(const TensorView &view) {
  for (size_t axis = 0; axis < view.rank(); ++axis) {
    if (view.shape[axis] > 1 && view.strides[axis] == 0) {
      return false;
    }
  }
  return true;
}

Result<Values> runFresh(const OpCall &call, std::span<const Value> operands,
                        const tracert::ResultTypes &types, tracert::Device *device) {
  Values results;
  std::vector<TensorView> inputs;
  inputs.reserve(operands.size());
  for (const Value &operand : operands) {
    inputs.push_back(operand->view());
  }
  std::vector<TensorView> outputs;
  for (const TensorType &type : types) {
    TRACERT_ASSIGN(Value result, device ? allocateOn(*device, type) : allocateValue(type));
    outputs.push_back(result->view());
    results.push_back(std::move(result));
  }
  if (device) [[unlikely]] {
    tracert::HostCopies copies(*device, tracert::processAllocator());
    TRACERT_TRY(copies.runKernel(kernelContext(), call, inputs, outputs));
    return results;
  }
  TRACERT_TRY(runKernel(kernelContext(), call, inputs, outputs));
  return results;
}

/// The operand whose shape is the result's when every operand has that shape or rank 0 and all are
/// Ready and of one allowed dtype; null: the general way.
const Value *commonShape(const tracert::OpInfo &info, std::span<const Value> operands) {
  if (operands.empty() || operands.size() != static_cast<size_t>(info.operandCount)) {
    return nullptr;
  }
  const Value *largest = &operands[0];
  for (const Value &operand : operands) {
    if (operand->state() != ValueImpl::State::Ready || operand->dtype() != operands[0]->dtype()) {
      return nullptr;
    }
    if (operand->shape().size() > (*largest)->shape().size()) {
      largest = &operand;
    }
  }
  for (const Value &operand : operands) {
    if (!operand->shape().empty() && !(operand->shape() == (*largest)->shape())) {
      return nullptr;
    }
  }
  bool isAllowed = (info.dtypes >> static_cast<int>(operands[0]->dtype())) & 1;
  return isAllowed ? largest : nullptr;
}

/// The short way for small contiguous operands; false: not taken.
bool runFlat(tracert::OpKind kind, std::span<const Value> operands, ValueImpl &result) {
  int64_t count = result.view().elementCount();
  if (count > tracert::kMaxFlatElements) {
    return false;
  }
  tracert::FlatOperand flat[3];
  for (size_t i = 0; i < operands.size(); ++i) {
    const TensorView &view = operands[i]->view();
    if (!view.isContiguous()) {
      return false;
    }
    flat[i] = {view.data,
               view.rank() == 0 ? 0 : static_cast<int64_t>(tracert::dtypeSize(view.dtype))};
  }
  tracert::runFlatPointwise(kernelContext(), kind, operands[0]->dtype(), {flat, operands.size()},
                            result.view().data,
                            static_cast<int64_t>(tracert::dtypeSize(result.dtype())), count);
  return true;
}

} // namespace

std::optional<int64_t> readySize(const Value &value) {
  if (value->state() != ValueImpl::State::Ready || !value->shape().empty()) {
    return std::nullopt;
  }
  if (!tracert::isInteger(value->dtype())) {
    return std::nullopt;
  }
  if (tracert::hasDevices()) [[unlikely]] {
    // What cannot be brought is not known.
    Result<Value> host = onHost(value);
    return host.ok() ? std::optional(tracert::integerAt((*host)->view().data, value->dtype()))
                     : std::nullopt;
  }
  return tracert::integerAt(value->view().data, value->dtype());
}

Result<Value> dispatchOne(const OpCall &call, std::span<const Value> operands) {
  const tracert::OpInfo &info = call.info();
  if (!hasTransforms() && !tracert::hasDevices() && info.isPointwise() && info.attrCount == 0 &&
      info.family != tracert::OpFamily::Select && !info.checksElements()) {
    if (const Value *shaped = commonShape(info, operands)) {
      DType dtype =
          info.family == tracert::OpFamily::Elementwise ? operands[0]->dtype() : DType::Bool;
      TRACERT_ASSIGN(Value result, allocateValue({dtype, (*shaped)->shape()}));
      if (runFlat(call.kind, operands, *result.get())) {
        return result;
      }
      TensorView inputs[3];
      for (size_t i = 0; i < operands.size(); ++i) {
        inputs[i] = operands[i]->view();
      }
      TRACERT_TRY(
          runKernel(kernelContext(), call, {inputs, operands.size()}, {&result->view(), 1}));
      return result;
    }
  }
  TRACERT_ASSIGN(Values results, dispatch(call, operands));
  return std::move(results.front());
}

tracert::KernelContext kernelContext() {
  const EvalOptions &options = evalOptions();
  return {options.pool.get(), options.target, &tracert::processAllocator(), options.indexMode};
}

Result<tracert::ResultTypes> inferValueTypes(const OpCall &call, std::span<const Value> operands) {
  return tracert::inferTypes(call, describe(call, operands));
}

namespace {

/// `device`: of the operands, whose sizes and bounds lie on the host; null: all do.
Result<Values> evaluateReady(const OpCall &call, std::span<const Value> operands,
                             tracert::Device *device) {
  const tracert::OpInfo &info = call.info();
  if (info.has(kTraitComposite)) {
    return evaluateComposite(call, operands);
  }
  if (info.has(kTraitView)) {
    TRACERT_ASSIGN(Values viewed, evaluateView(call, operands, device));
    if (!viewed.empty()) {
      return viewed;
    }
  }
  if (info.has(kTraitSizeOnly)) {
    TRACERT_ASSIGN(int64_t size, tracert::inferSizeValue(call, describe(call, operands)));
    TRACERT_ASSIGN(Value result, allocateValue({DType::Int64, {}}));
    *static_cast<int64_t *>(result->view().data) = size;
    return Values{std::move(result)};
  }
  if (info.has(kTraitDataDependentShape)) {
    std::vector<TensorView> inputs;
    for (const Value &operand : operands) {
      inputs.push_back(operand->view());
    }
    std::vector<OperandInfo> infos = describe(call, operands);
    // Types first: a mask of the wrong shape must be an error before its elements are counted.
    TRACERT_TRY(tracert::inferTypes(call, infos).status());
    Result<std::vector<int64_t>> counts =
        device ? tracert::HostCopies(*device, tracert::processAllocator())
                     .readCounts(kernelContext(), call, inputs)
               : readCounts(kernelContext(), call, inputs);
    TRACERT_TRY(counts.status());
    TRACERT_ASSIGN(tracert::ResultTypes types, tracert::inferTypesWithCounts(call, infos, *counts));
    return runFresh(call, operands, types, device);
  }
  TRACERT_ASSIGN(tracert::ResultTypes types, inferValueTypes(call, operands));
  return runFresh(call, operands, types, device);
}

/// Apart, so that the way of the host keeps nothing for it.
[[gnu::noinline]] Result<Values> evaluateAnywhere(const OpCall &call,
                                                  std::span<const Value> operands) {
  Result<tracert::Device *> device = commonDevice(call, operands);
  TRACERT_TRY(device.status());
  if (!*device) {
    return evaluateReady(call, operands, nullptr);
  }
  TRACERT_ASSIGN(Values known, sizesOnHost(call, operands));
  return evaluateReady(call, known, *device);
}

} // namespace

Result<Values> evaluate(const OpCall &call, std::span<const Value> operands) {
  for (const Value &operand : operands) {
    if (operand->state() != ValueImpl::State::Ready) [[unlikely]] {
      TRACERT_TRY(ensureReady(operand));
    }
  }
  if (tracert::hasDevices()) [[unlikely]] {
    return evaluateAnywhere(call, operands);
  }
  return evaluateReady(call, operands, nullptr);
}

Result<Value> evaluateConsuming(const OpCall &call, Value &consumed, std::span<const Value> rest) {
  TRACERT_TRY(ensureReady(consumed));
  for (const Value &operand : rest) {
    TRACERT_TRY(ensureReady(operand));
  }
  bool inPlace = call.info().has(kTraitSet) && consumed->useCount() == 1 &&
                 !consumed->buffer()->isForeign() && consumed->buffer()->isUnique() &&
                 hasDistinctElements(consumed->view());
  // On a device a set is done on copies.
  if (tracert::hasDevices()) [[unlikely]] {
    inPlace = inPlace && isOnHost({&consumed, 1}) && isOnHost(rest);
  }
  Values operands;
  operands.reserve(rest.size() + 1);
  operands.push_back(consumed);
  operands.insert(operands.end(), rest.begin(), rest.end());
  if (!inPlace) {
    TRACERT_ASSIGN(Values results, evaluate(call, operands));
    consumed = Value();
    return std::move(results.front());
  }
  TRACERT_TRY(inferValueTypes(call, operands).status());
  std::vector<TensorView> inputs;
  for (const Value &operand : operands) {
    inputs.push_back(operand->view());
  }
  TensorView target = inputs.front();
  TRACERT_TRY(runKernel(kernelContext(), call, inputs, {&target, 1}));
  return std::move(consumed);
}

} // namespace tracec
