// The numeric mode of a scope.
#include "tracert/scalar/FloatMode.h"

#include <gtest/gtest.h>

using tracert::scalar::EnterNumericMode;
using tracert::scalar::FloatModeRegister;

TEST(FloatMode, isSetAndRestored) {
  FloatModeRegister::Bits before = FloatModeRegister::read();
  FloatModeRegister::write(before | FloatModeRegister::flushBits);
  volatile float tiny = 0x1p-140f;
  {
    EnterNumericMode mode;
    volatile float kept = tiny * 0.5f;
    EXPECT_EQ(kept, 0x1p-141f);
  }
  volatile float flushed = tiny * 0.5f;
  EXPECT_EQ(FloatModeRegister::read() & FloatModeRegister::flushBits, FloatModeRegister::flushBits);
  FloatModeRegister::write(before);
  EXPECT_EQ(flushed, 0.0f);
}
