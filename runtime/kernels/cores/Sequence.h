/// Sequence.h: walks the elements of a nest of reduced axes in C order.
///
///   SequenceWalk walk(data, axes);
///   walk.seek(4096);
///   walk.gather<4>(count, buffer);  // the next `count` elements of 4 bytes, packed
///
/// Holds pointers into the caller's axes. Ranks above 64 do not exist.
#pragma once

#include "KernelCores.h"

#include "tracert/scalar/Lanes.h"

#include <cstring>

namespace tracert::TRACERT_ISA {

class SequenceWalk {
public:
  SequenceWalk(const void *data, const ReducedAxes &axes)
      : base(static_cast<const char *>(data)), at(base), axes(axes) {
    for (int32_t axis = 0; axis < axes.rank; ++axis) {
      position[axis] = 0;
    }
  }

  static int64_t length(const ReducedAxes &axes) {
    int64_t count = 1;
    for (int32_t axis = 0; axis < axes.rank; ++axis) {
      count *= axes.sizes[axis];
    }
    return count;
  }

  /// Goes to an element; length must not be zero.
  void seek(int64_t element) {
    at = base;
    for (int32_t axis = axes.rank - 1; axis >= 0; --axis) {
      position[axis] = element % axes.sizes[axis];
      element /= axes.sizes[axis];
      at += position[axis] * axes.strides[axis];
    }
  }

  const char *pointer() const { return at; }
  /// Elements from here that lie on the innermost stride.
  int64_t run() const {
    return axes.rank == 0 ? 1 : axes.sizes[axes.rank - 1] - position[axes.rank - 1];
  }
  int64_t innerStride() const { return axes.rank == 0 ? 0 : axes.strides[axes.rank - 1]; }

  /// Past `count` elements of the present run.
  void advance(int64_t count) {
    int32_t axis = axes.rank - 1;
    if (axis < 0) {
      return;
    }
    position[axis] += count;
    at += count * axes.strides[axis];
    while (axis > 0 && position[axis] == axes.sizes[axis]) {
      at -= axes.sizes[axis] * axes.strides[axis];
      position[axis] = 0;
      --axis;
      ++position[axis];
      at += axes.strides[axis];
    }
  }

  template <int64_t size> void gather(int64_t count, void *target) {
    char *out = static_cast<char *>(target);
    while (count > 0) {
      int64_t length = run() < count ? run() : count;
      int64_t stride = innerStride();
      if (stride == size) {
        std::memcpy(out, at, size_t(length * size));
      } else {
        for (int64_t i = 0; i < length; ++i) {
          std::memcpy(out + i * size, at + i * stride, size_t(size));
        }
      }
      out += length * size;
      advance(length);
      count -= length;
    }
  }

private:
  const char *base;
  const char *at;
  ReducedAxes axes;
  int64_t position[64];
};

} // namespace tracert::TRACERT_ISA
