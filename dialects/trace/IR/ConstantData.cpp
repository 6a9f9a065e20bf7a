#include "trace/IR/ConstantData.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace tracec::trace {

std::optional<std::string> bytesOf(ElementsAttr value) {
  auto type = cast<RankedTensorType>(value.getType());
  size_t elementBytes = tracert::dtypeSize(*dtypeOfElement(type.getElementType()));
  size_t count = static_cast<size_t>(type.getNumElements());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != count * elementBytes) {
      return std::nullopt;
    }
    return std::string(blob->getData().data(), blob->getData().size());
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense) {
    return std::nullopt;
  }
  std::string bytes;
  if (!type.getElementType().isInteger(1) && !dense.isSplat()) {
    ArrayRef<char> raw = dense.getRawData();
    return std::string(raw.data(), raw.size());
  }
  bytes.reserve(count * elementBytes);
  auto append = [&](const APInt &bits) {
    uint64_t word = bits.getZExtValue();
    bytes.append(reinterpret_cast<const char *>(&word), elementBytes);
  };
  if (isa<FloatType>(type.getElementType())) {
    for (const APFloat &element : dense.getValues<APFloat>()) {
      append(element.bitcastToAPInt());
    }
  } else {
    for (const APInt &element : dense.getValues<APInt>()) {
      append(element);
    }
  }
  return bytes;
}

DenseElementsAttr elementsFromBytes(RankedTensorType type, StringRef bytes) {
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> elements;
    for (char byte : bytes) {
      elements.push_back(byte != 0);
    }
    return DenseElementsAttr::get(type, elements);
  }
  return DenseElementsAttr::getFromRawBuffer(type, ArrayRef<char>(bytes.data(), bytes.size()));
}

std::optional<int64_t> integerValueOf(ConstantOp constant) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(constant.getValueAttr());
  auto type = dyn_cast<IntegerType>(constant.getType().getElementType());
  if (!dense || !type || constant.getType().getRank() != 0 || type.getWidth() == 1) {
    return std::nullopt;
  }
  APInt value = *dense.getValues<APInt>().begin();
  // As integerAt reads a uint64 above int64.
  return type.isUnsigned() ? static_cast<int64_t>(value.getLimitedValue(INT64_MAX))
                           : value.getSExtValue();
}

} // namespace tracec::trace
