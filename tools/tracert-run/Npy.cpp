#include "Npy.h"

#include "OutputFile.h"
#include "tracert/DType.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace cli {
namespace {

/// As NumPy describes a dtype: "<f4".
std::string codeOf(tracert::DType dtype) {
  constexpr const char *letters[] = {"b", "i", "u", "f"}; // by category
  size_t size = tracert::dtypeSize(dtype);
  if (dtype == tracert::DType::BFloat16) {
    return "<V2"; // as ml_dtypes writes it
  }
  return (size == 1 ? "|" : "<") +
         std::string(letters[static_cast<int>(tracert::dtypeCategory(dtype))]) +
         std::to_string(size);
}

constexpr char kMagic[] = "\x93NUMPY";
constexpr size_t kMagicSize = 6;

[[noreturn]] void fail(const std::string &path, const std::string &what) {
  throw UserError("'" + path + "': " + what);
}

using File = std::unique_ptr<FILE, int (*)(FILE *)>;

File open(const std::string &path, const char *mode) {
  File file(std::fopen(path.c_str(), mode), std::fclose);
  if (!file) {
    fail(path, std::strerror(errno));
  }
  return file;
}

/// The text after `'key':`, as far as the next comma at the same level.
std::string valueOf(const std::string &path, const std::string &header, const std::string &key) {
  size_t at = header.find("'" + key + "'");
  size_t begin = at == std::string::npos ? at : header.find(':', at);
  if (begin == std::string::npos) {
    fail(path, "the .npy header has no '" + key + "'");
  }
  begin = header.find_first_not_of(' ', begin + 1);
  size_t end = begin;
  for (int depth = 0; end < header.size(); ++end) {
    char c = header[end];
    depth += (c == '(') - (c == ')');
    if (depth == 0 && (c == ',' || c == '}')) {
      break;
    }
  }
  return begin == std::string::npos ? "" : header.substr(begin, end - begin);
}

std::vector<int64_t> parseShape(const std::string &path, const std::string &text) {
  std::vector<int64_t> shape;
  for (size_t i = 0; i < text.size();) {
    if (text[i] < '0' || text[i] > '9') {
      ++i;
      continue;
    }
    int64_t size = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
      if (__builtin_mul_overflow(size, 10, &size) ||
          __builtin_add_overflow(size, text[i] - '0', &size)) {
        fail(path, "the shape is too large");
      }
    }
    shape.push_back(size);
  }
  return shape;
}

/// Column-major bytes in row-major order.
std::vector<unsigned char> reorder(const OwnedArray &array, size_t elementSize) {
  size_t rank = array.shape.size();
  std::vector<int64_t> strides(rank), position(rank, 0);
  int64_t step = 1;
  for (size_t axis = 0; axis < rank; ++axis) {
    strides[axis] = step;
    step *= array.shape[axis];
  }
  std::vector<unsigned char> bytes(array.bytes.size());
  int64_t source = 0;
  for (size_t target = 0; target < bytes.size(); target += elementSize) {
    std::memcpy(&bytes[target], &array.bytes[static_cast<size_t>(source) * elementSize],
                elementSize);
    for (size_t axis = rank; axis-- > 0;) {
      source += strides[axis];
      if (++position[axis] < array.shape[axis]) {
        break;
      }
      source -= strides[axis] * array.shape[axis];
      position[axis] = 0;
    }
  }
  return bytes;
}

} // namespace

OwnedArray readNpy(const std::string &path) {
  File file = open(path, "rb");
  unsigned char start[12];
  if (std::fread(start, 1, 10, file.get()) != 10 || std::memcmp(start, kMagic, kMagicSize) != 0) {
    fail(path, "not a .npy file");
  }
  int version = start[6];
  if (version < 1 || version > 3) {
    fail(path, "unknown .npy version " + std::to_string(version));
  }
  size_t length = start[8] | size_t(start[9]) << 8;
  if (version > 1) {
    if (std::fread(start + 10, 1, 2, file.get()) != 2) {
      fail(path, "the .npy header is cut off");
    }
    length |= size_t(start[10]) << 16 | size_t(start[11]) << 24;
  }
  if (length > (size_t(1) << 20)) {
    fail(path, "the .npy header is too long");
  }
  std::string header(length, '\0');
  if (std::fread(header.data(), 1, length, file.get()) != length) {
    fail(path, "the .npy header is cut off");
  }
  OwnedArray array;
  std::string code = valueOf(path, header, "descr");
  bool isKnown = false;
  for (tracert::DType dtype : tracert::kAllDTypes) {
    if (code == "'" + codeOf(dtype) + "'") {
      array.dtype = static_cast<trt_dtype>(dtype);
      isKnown = true;
    }
  }
  if (!isKnown) {
    fail(path, "dtype " + code + " is not supported");
  }
  array.shape = parseShape(path, valueOf(path, header, "shape"));
  size_t elementSize = trt_dtype_size(array.dtype);
  size_t wanted = static_cast<size_t>(array.elementCount()) * elementSize;
  // Read in parts: a wrong shape must not allocate more than the file has.
  constexpr size_t part = size_t(1) << 24;
  while (array.bytes.size() < wanted) {
    size_t old = array.bytes.size();
    size_t count = std::min(part, wanted - old);
    array.bytes.resize(old + count);
    if (std::fread(array.bytes.data() + old, 1, count, file.get()) != count) {
      fail(path, "the data is cut off");
    }
  }
  if (valueOf(path, header, "fortran_order") == "True") {
    array.bytes = reorder(array, elementSize);
  }
  return array;
}

void writeNpy(const std::string &path, const trt_tensor &tensor) {
  std::string code = codeOf(static_cast<tracert::DType>(tensor.dtype));
  std::string header = "{'descr': '" + code + "', 'fortran_order': False, 'shape': (";
  for (int32_t i = 0; i < tensor.rank; ++i) {
    header +=
        std::to_string(tensor.shape[i]) + (tensor.rank == 1 || i + 1 < tensor.rank ? "," : "");
    header += i + 1 < tensor.rank ? " " : "";
  }
  header += "), }";
  // NumPy wants the data at a multiple of 64.
  while ((kMagicSize + 4 + header.size() + 1) % 64 != 0) {
    header += ' ';
  }
  header += '\n';
  unsigned char start[10];
  std::memcpy(start, kMagic, kMagicSize);
  start[6] = 1;
  start[7] = 0;
  start[8] = static_cast<unsigned char>(header.size());
  start[9] = static_cast<unsigned char>(header.size() >> 8);
  size_t bytes = static_cast<size_t>(elementCount(tensor)) * trt_dtype_size(tensor.dtype);
  OutputFile file(path);
  file.write({reinterpret_cast<const char *>(start), sizeof start});
  file.write(header);
  file.write({static_cast<const char *>(tensor.data), bytes});
  file.finish();
}

} // namespace cli
