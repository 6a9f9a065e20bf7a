#include "Tensors.h"

#include "Json.h"
#include "Npy.h"
#include "Text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <unistd.h>

namespace cli {
namespace {

struct DTypeName {
  const char *name;
  trt_dtype dtype;
};
constexpr DTypeName kShortNames[] = {
    {"b1", TRT_BOOL},     {"u8", TRT_UINT8},    {"i32", TRT_INT32},  {"i64", TRT_INT64},
    {"f16", TRT_FLOAT16}, {"f32", TRT_FLOAT32}, {"f64", TRT_FLOAT64}};
constexpr trt_dtype kDTypes[] = {TRT_BOOL,    TRT_UINT8,   TRT_INT32,  TRT_INT64,
                                 TRT_FLOAT16, TRT_FLOAT32, TRT_FLOAT64};

bool dtypeOf(const std::string &name, trt_dtype &dtype) {
  for (const DTypeName &entry : kShortNames) {
    if (name == entry.name) {
      dtype = entry.dtype;
      return true;
    }
  }
  for (trt_dtype candidate : kDTypes) {
    if (name == trt_dtype_name(candidate)) {
      dtype = candidate;
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

template <class T> void put(std::vector<unsigned char> &bytes, T value) {
  const auto *raw = reinterpret_cast<const unsigned char *>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof value);
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

uint16_t halfBits(double value) {
  auto half = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof bits);
  return bits;
}

uint16_t halfBits(const std::string &text) {
  double value = real(text, std::strtod);
  if (std::isfinite(value) && std::isinf(static_cast<float>(static_cast<_Float16>(value)))) {
    throw UserError("value " + text + " does not fit the dtype");
  }
  return halfBits(value);
}

void putElement(OwnedArray &array, const std::string &text) {
  switch (array.dtype) {
  case TRT_BOOL:
    if (text != "0" && text != "1" && text != "true" && text != "false") {
      throw UserError("'" + text + "' is not a bool: write 0, 1, true or false");
    }
    return put(array.bytes, static_cast<uint8_t>(text == "1" || text == "true"));
  case TRT_UINT8:
    return put(array.bytes, integer<uint8_t>(text));
  case TRT_INT32:
    return put(array.bytes, integer<int32_t>(text));
  case TRT_INT64:
    return put(array.bytes, integer<int64_t>(text));
  case TRT_FLOAT16:
    return put(array.bytes, halfBits(text));
  case TRT_FLOAT32:
    return put(array.bytes, real(text, std::strtof));
  case TRT_FLOAT64:
    return put(array.bytes, real(text, std::strtod));
  }
}

template <class T> T load(const trt_tensor &tensor, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(tensor.data) + index * int64_t(sizeof(T)),
              sizeof value);
  return value;
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
  if (!dtypeOf(parts.back(), array.dtype)) {
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
    putElement(array, values[isRepeated ? 0 : static_cast<size_t>(i)]);
  }
  return array;
}

OwnedArray filled(trt_dtype dtype, std::vector<int64_t> shape, FillMode mode) {
  OwnedArray array;
  array.dtype = dtype;
  array.shape = std::move(shape);
  std::mt19937_64 random(0);
  for (int64_t i = 0, count = array.elementCount(); i < count; ++i) {
    double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    bool isFloat = dtype == TRT_FLOAT16 || dtype == TRT_FLOAT32 || dtype == TRT_FLOAT64;
    // Integers are often indices, so they are 0 or 1.
    double value = mode == FillMode::Ones ? 1.0 : 0.0;
    if (mode == FillMode::Random) {
      value = isFloat ? 2 * unit - 1 : std::floor(2 * unit);
    }
    switch (dtype) {
    case TRT_BOOL:
    case TRT_UINT8:
      put(array.bytes, static_cast<uint8_t>(value));
      break;
    case TRT_INT32:
      put(array.bytes, static_cast<int32_t>(value));
      break;
    case TRT_INT64:
      put(array.bytes, static_cast<int64_t>(value));
      break;
    case TRT_FLOAT16:
      put(array.bytes, halfBits(value));
      break;
    case TRT_FLOAT32:
      put(array.bytes, static_cast<float>(value));
      break;
    case TRT_FLOAT64:
      put(array.bytes, value);
      break;
    }
  }
  return array;
}

std::string elementText(const trt_tensor &tensor, int64_t index) {
  switch (tensor.dtype) {
  case TRT_BOOL:
    return load<uint8_t>(tensor, index) ? "true" : "false";
  case TRT_UINT8:
    return std::to_string(load<uint8_t>(tensor, index));
  case TRT_INT32:
    return std::to_string(load<int32_t>(tensor, index));
  case TRT_INT64:
    return std::to_string(load<int64_t>(tensor, index));
  case TRT_FLOAT16: {
    _Float16 half;
    auto bits = load<uint16_t>(tensor, index);
    std::memcpy(&half, &bits, sizeof half);
    return shortest(static_cast<float>(half));
  }
  case TRT_FLOAT32:
    return shortest(load<float>(tensor, index));
  case TRT_FLOAT64:
    return shortest(load<double>(tensor, index));
  }
  return "?";
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
