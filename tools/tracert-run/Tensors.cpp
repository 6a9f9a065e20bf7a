#include "Tensors.h"

#include "Json.h"
#include "Npy.h"
#include "Text.h"
#include "tracert/Element.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <unistd.h>

namespace cli {

using tracert::DType;

namespace {

DType dtypeOf(const trt_tensor &tensor) { return static_cast<DType>(tensor.dtype); }

/// By short or public name.
bool readDType(const std::string &name, trt_dtype &dtype) {
  for (DType candidate : tracert::kAllDTypes) {
    if (name == tracert::dtypeShortName(candidate) || name == tracert::dtypeName(candidate)) {
      dtype = static_cast<trt_dtype>(candidate);
      return true;
    }
  }
  return false;
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (;;) {
    size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) {
      return parts;
    }
    begin = end + 1;
  }
}

template <class T> T integer(const std::string &text) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    throw UserError("value " + text + " does not fit the dtype");
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    throw UserError("'" + text + "' is not an integer");
  }
  return value;
}

/// Rounded once, from the text to the element. `parse` is strtod or strtof.
template <class Parse> auto real(const std::string &text, Parse parse) {
  char *end = nullptr;
  auto value = parse(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) {
    throw UserError("'" + text + "' is not a number");
  }
  // "inf" is meant, 1e999 is not.
  if (std::isinf(value) && text.find_first_of("nN") == std::string::npos) {
    throw UserError("value " + text + " does not fit the dtype");
  }
  return value;
}

/// Rounded once.
uint64_t floatBits(const std::string &text, DType dtype) {
  if (dtype == DType::Float32) {
    return std::bit_cast<uint32_t>(real(text, std::strtof));
  }
  double value = real(text, std::strtod);
  uint64_t bits = tracert::floatBits(value, dtype);
  if (std::isfinite(value) && std::isinf(tracert::floatAt(&bits, dtype))) {
    throw UserError("value " + text + " does not fit the dtype");
  }
  return bits;
}

void putBits(OwnedArray &array, uint64_t bits) {
  const auto *raw = reinterpret_cast<const unsigned char *>(&bits);
  array.bytes.insert(array.bytes.end(), raw, raw + trt_dtype_size(array.dtype));
}

uint64_t elementBits(const std::string &text, DType dtype) {
  if (tracert::isFloat(dtype)) {
    return floatBits(text, dtype);
  }
  if (tracert::isInteger(dtype)) {
    return tracert::visitIntegerDType(dtype, [&](auto tag) -> uint64_t {
      return static_cast<uint64_t>(integer<typename decltype(tag)::Storage>(text));
    });
  }
  if (text != "0" && text != "1" && text != "true" && text != "false") {
    throw UserError("'" + text + "' is not a bool: write 0, 1, true or false");
  }
  return text == "1" || text == "true";
}

} // namespace

int64_t OwnedArray::elementCount() const {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    return 0;
  }
  int64_t memory = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  int64_t most = memory / static_cast<int64_t>(trt_dtype_size(dtype));
  int64_t count = 1;
  for (int64_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count) || count > most) {
      throw UserError("a tensor of this shape needs more than the " +
                      grouped(static_cast<unsigned long long>(memory)) +
                      " bytes of memory that this machine has");
    }
  }
  return count;
}

trt_tensor OwnedArray::tensor() const {
  static unsigned char nothing;
  trt_tensor tensor{};
  tensor.struct_size = sizeof tensor;
  tensor.dtype = dtype;
  tensor.rank = static_cast<int32_t>(shape.size());
  tensor.shape = shape.data();
  tensor.data = bytes.empty() ? &nothing : const_cast<unsigned char *>(bytes.data());
  return tensor;
}

bool parseType(const std::string &text, OwnedArray &array) {
  std::vector<std::string> parts = split(text, 'x');
  if (!readDType(parts.back(), array.dtype)) {
    return false;
  }
  array.shape.clear();
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    int64_t size = -1;
    const char *end = parts[i].data() + parts[i].size();
    auto [stop, error] = std::from_chars(parts[i].data(), end, size);
    if (error != std::errc() || stop != end || size < 0) {
      return false;
    }
    array.shape.push_back(size);
  }
  return true;
}

NamedValue splitName(const std::string &text) {
  size_t equals = text.find('=');
  OwnedArray ignored;
  bool hasName = !text.empty() && text[0] != '@' && equals != std::string::npos &&
                 !parseType(text.substr(0, equals), ignored);
  if (!hasName) {
    return {"", text};
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

OwnedArray parseValue(const std::string &text) {
  if (!text.empty() && text[0] == '@') {
    return readNpy(text.substr(1));
  }
  size_t equals = text.find('=');
  OwnedArray array;
  if (equals == std::string::npos || !parseType(text.substr(0, equals), array)) {
    throw UserError("'" + text + "' is neither a value like 2x3xf32=1,2,3,4,5,6 nor @file.npy");
  }
  std::string list = text.substr(equals + 1);
  std::vector<std::string> values;
  if (!list.empty()) {
    values = split(list, ',');
  }
  int64_t count = array.elementCount();
  bool isRepeated = values.size() == 1 && count != 1;
  if (!isRepeated && static_cast<int64_t>(values.size()) != count) {
    throw UserError("'" + text.substr(0, equals) + "' takes " + std::to_string(count) +
                    " values, got " + std::to_string(values.size()));
  }
  for (int64_t i = 0; i < count; ++i) {
    const std::string &value = values[isRepeated ? 0 : static_cast<size_t>(i)];
    putBits(array, elementBits(value, static_cast<DType>(array.dtype)));
  }
  return array;
}

OwnedArray filled(trt_dtype dtype, std::vector<int64_t> shape, FillMode mode) {
  OwnedArray array;
  array.dtype = dtype;
  array.shape = std::move(shape);
  std::mt19937_64 random(0);
  auto known = static_cast<DType>(dtype);
  for (int64_t i = 0, count = array.elementCount(); i < count; ++i) {
    double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    bool isFloat = tracert::isFloat(known);
    // Integers are often indices, so they are 0 or 1.
    double value = mode == FillMode::Ones ? 1.0 : 0.0;
    if (mode == FillMode::Random) {
      value = isFloat ? 2 * unit - 1 : std::floor(2 * unit);
    }
    putBits(array, isFloat ? tracert::floatBits(value, known) : static_cast<uint64_t>(value));
  }
  return array;
}

std::string elementText(const trt_tensor &tensor, int64_t index) {
  DType dtype = dtypeOf(tensor);
  const char *element = static_cast<const char *>(tensor.data) +
                        index * static_cast<int64_t>(tracert::dtypeSize(dtype));
  if (tracert::isBool(dtype)) {
    return tracert::integerAt(element, dtype) ? "true" : "false";
  }
  if (tracert::isInteger(dtype)) {
    return tracert::integerText(element, dtype);
  }
  double value = tracert::floatAt(element, dtype);
  return dtype == DType::Float64 ? shortest(value) : shortest(static_cast<float>(value));
}

int64_t elementCount(const trt_tensor &tensor) {
  int64_t count = 1;
  for (int32_t i = 0; i < tensor.rank; ++i) {
    count *= tensor.shape[i];
  }
  return count;
}

std::string typeText(const trt_tensor &tensor) {
  std::string text = trt_dtype_name(tensor.dtype);
  text += "[";
  for (int32_t i = 0; i < tensor.rank; ++i) {
    text += (i > 0 ? "," : "") + std::to_string(tensor.shape[i]);
  }
  return text + "]";
}

namespace {

void addElement(JsonWriter &json, const trt_tensor &tensor, int64_t index) {
  std::string text = elementText(tensor, index);
  // JSON has no numbers for these.
  if (text.find("nan") != std::string::npos || text.find("inf") != std::string::npos) {
    json.value(text);
  } else {
    json.literal(text);
  }
}

void addAxis(JsonWriter &json, const trt_tensor &tensor, int32_t axis, int64_t &index) {
  if (axis == tensor.rank) {
    addElement(json, tensor, index++);
    return;
  }
  json.beginArray();
  for (int64_t i = 0; i < tensor.shape[axis]; ++i) {
    addAxis(json, tensor, axis + 1, index);
  }
  json.endArray();
}

} // namespace

void addElements(JsonWriter &json, const trt_tensor &tensor) {
  // An empty tensor may have any other sizes: its nest of arrays could be endless.
  if (elementCount(tensor) == 0) {
    json.beginArray();
    json.endArray();
    return;
  }
  int64_t index = 0;
  addAxis(json, tensor, 0, index);
}

} // namespace cli
