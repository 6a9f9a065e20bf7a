/// Tensors on the command line: values in text, .npy files, filled ones.
///
///   OwnedArray x = parseValue("2x3xf32=1,2,3,4,5,6");   // or "@x.npy"
///   NamedValue named = splitName("x=@x.npy");            // name "x", value "@x.npy"
///
/// One value stands for all elements. Dtypes: bool u8 i32 i64 f16 f32 f64 or their long names.
/// Errors are thrown as UserError with a one-line message.
#pragma once

#include "tracert/tracert.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace cli {

class JsonWriter;

/// What the user can mend; exit code 1.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct OwnedArray {
  trt_dtype dtype = TRT_FLOAT32;
  std::vector<int64_t> shape;
  std::vector<unsigned char> bytes; // row-major

  /// Throws when this machine has not the memory for it.
  int64_t elementCount() const;
  /// Points into this array.
  trt_tensor tensor() const;
};

struct NamedValue {
  std::string name; // "" when not given
  std::string value;
};

/// "x=2xf32=1,2" has a name, "2xf32=1,2" and "@x.npy" have none.
NamedValue splitName(const std::string &text);
OwnedArray parseValue(const std::string &text);
/// "2x3xf32" without values.
bool parseType(const std::string &text, OwnedArray &array);

enum class FillMode { Zeros, Ones, Random };
/// Random values are the same in every run; integers and masks stay small and valid.
OwnedArray filled(trt_dtype dtype, std::vector<int64_t> shape, FillMode mode);

/// Element `index` in row-major order of a contiguous tensor, as text that reads back exactly.
std::string elementText(const trt_tensor &tensor, int64_t index);
/// "float32[2,3]".
std::string typeText(const trt_tensor &tensor);
/// The value as a number or text of JSON; a tensor as nested arrays.
void addElements(JsonWriter &json, const trt_tensor &tensor);
int64_t elementCount(const trt_tensor &tensor);

} // namespace cli
