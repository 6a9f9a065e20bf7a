/// FloatMode.h: the floating-point mode that the number contract assumes, for the length of a
/// scope.
///
///   EnterNumericMode mode;  // at every program entry and at the top of every pool thread's work
///
/// Round to nearest, no flush-to-zero, no denormals-are-zero, all exceptions masked. Another
/// library built with -ffast-math may have changed the mode of the thread; it is put back at the
/// end of the scope. Belongs to one thread.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tracert::scalar {

/// The register that holds the mode: MXCSR, FPCR.
struct FloatModeRegister {
#if defined(__x86_64__)
  using Bits = unsigned;
  static constexpr Bits defaultMode = 0x1F80;
  /// The low six are sticky flags.
  static constexpr Bits modeBits = ~0x3Fu;
  /// To zero: subnormal results, subnormal operands.
  static constexpr Bits flushBits = 0x8040;
  static Bits read() { return _mm_getcsr(); }
  static void write(Bits bits) { _mm_setcsr(bits); }
#elif defined(__aarch64__)
  using Bits = uint64_t;
  static constexpr Bits defaultMode = 0;
  /// Alternative half precision, rounding, flushing, trapped exceptions. The default-NaN bit (25)
  /// and the reserved ones are left as they are.
  static constexpr Bits modeBits = 0x05C89F07;
  static constexpr Bits flushBits = 0x01000000;
  static Bits read() {
    Bits bits;
    __asm__ volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
  }
  static void write(Bits bits) { __asm__ volatile("msr fpcr, %0" : : "r"(bits) : "memory"); }
#else
#error "which register holds this processor's floating-point mode?"
#endif
};

class EnterNumericMode {
public:
  EnterNumericMode() : saved(FloatModeRegister::read()) {
    // Writing the register is slow and nearly never needed.
    if ((saved & FloatModeRegister::modeBits) != FloatModeRegister::defaultMode) {
      FloatModeRegister::write(FloatModeRegister::defaultMode);
    }
  }
  ~EnterNumericMode() {
    if ((saved & FloatModeRegister::modeBits) != FloatModeRegister::defaultMode) {
      FloatModeRegister::write(saved);
    }
  }
  EnterNumericMode(const EnterNumericMode &) = delete;
  EnterNumericMode &operator=(const EnterNumericMode &) = delete;

private:
  FloatModeRegister::Bits saved;
};

} // namespace tracert::scalar
