/// FloatMode.h: the floating-point mode that the number contract assumes, for the length of a
/// scope.
///
///   EnterNumericMode mode;  // at every program entry and at the top of every pool thread's work
///
/// Round to nearest, no flush-to-zero, no denormals-are-zero, all exceptions masked. Another
/// library built with -ffast-math may have changed the mode of the thread; it is put back at the
/// end of the scope. Belongs to one thread.
#pragma once

#include <xmmintrin.h>

namespace tracert::scalar {

class EnterNumericMode {
public:
  EnterNumericMode() : saved(_mm_getcsr()) {
    // Writing the register is slow and nearly never needed; the low six bits are sticky flags.
    if ((saved & ~0x3Fu) != defaultMode) {
      _mm_setcsr(defaultMode);
    }
  }
  ~EnterNumericMode() {
    if ((saved & ~0x3Fu) != defaultMode) {
      _mm_setcsr(saved);
    }
  }
  EnterNumericMode(const EnterNumericMode &) = delete;
  EnterNumericMode &operator=(const EnterNumericMode &) = delete;

private:
  static constexpr unsigned defaultMode = 0x1F80;
  unsigned saved;
};

} // namespace tracert::scalar
