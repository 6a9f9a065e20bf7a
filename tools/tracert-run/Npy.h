/// NumPy's .npy files, versions 1 to 3, little endian, C or Fortran order.
///
///   OwnedArray x = readNpy("x.npy");  writeNpy("y.npy", tensor);
///
/// Throws UserError naming the file.
#pragma once

#include "Tensors.h"

namespace cli {

OwnedArray readNpy(const std::string &path);
/// `tensor` is contiguous.
void writeNpy(const std::string &path, const trt_tensor &tensor);

} // namespace cli
