#include "TestKernels.h"

// Sanitizers would add calls, and a call has no place to go in copied code.
#if defined(__clang__)
#define TEST_KERNEL __attribute__((section("trtkern"), no_sanitize("all"), used, noinline))
#else
#define TEST_KERNEL                                                                                \
  __attribute__((section("trtkern"), no_sanitize("address", "undefined"), used, noinline))
#endif

extern "C" const uint8_t __start_trtkern[];
extern "C" const uint8_t __stop_trtkern[];

namespace tracert::test {

std::vector<uint8_t> kernelCode() { return {__start_trtkern, __stop_trtkern}; }

uint64_t kernelOffset(KernelEntry kernel) {
  return static_cast<uint64_t>(reinterpret_cast<const uint8_t *>(kernel) - __start_trtkern);
}

TEST_KERNEL int32_t addF32(KernelFrame *frame) {
  auto *a = static_cast<const float *>(frame->pointers[0]);
  auto *b = static_cast<const float *>(frame->pointers[1]);
  auto *out = static_cast<float *>(frame->pointers[2]);
  for (int64_t i = frame->begin; i < frame->end; ++i) {
    out[i] = a[i] + b[i];
  }
  return kKernelOk;
}

TEST_KERNEL int32_t addStrided(KernelFrame *frame) {
  const int64_t *s = frame->strides;
  for (int64_t i = frame->begin; i < frame->end; ++i) {
    for (int64_t j = 0; j < frame->domain[1]; ++j) {
      const char *a = static_cast<const char *>(frame->pointers[0]) + i * s[0] + j * s[1];
      const char *b = static_cast<const char *>(frame->pointers[1]) + i * s[2] + j * s[3];
      char *out = static_cast<char *>(frame->pointers[2]) + i * s[4] + j * s[5];
      *reinterpret_cast<float *>(out) =
          *reinterpret_cast<const float *>(a) + *reinterpret_cast<const float *>(b);
    }
  }
  return kKernelOk;
}

TEST_KERNEL int32_t sumBlocks(KernelFrame *frame) {
  auto *a = static_cast<const int64_t *>(frame->pointers[0]);
  auto *partials = static_cast<int64_t *>(frame->pointers[1]);
  for (int64_t block = frame->begin; block < frame->end; ++block) {
    int64_t last = (block + 1) * 4096;
    if (last > frame->domain[0]) {
      last = frame->domain[0];
    }
    uint64_t sum = 0;
    for (int64_t i = block * 4096; i < last; ++i) {
      sum += static_cast<uint64_t>(a[i]);
    }
    partials[block] = static_cast<int64_t>(sum);
  }
  return kKernelOk;
}

TEST_KERNEL int32_t gatherF32(KernelFrame *frame) {
  auto *base = static_cast<const char *>(frame->pointers[0]);
  auto *indices = static_cast<const char *>(frame->pointers[1]);
  auto *out = static_cast<float *>(frame->pointers[2]);
  int64_t size = frame->gathers[0];
  int64_t stride = frame->gathers[1];
  for (int64_t i = frame->begin; i < frame->end; ++i) {
    int64_t index = *reinterpret_cast<const int64_t *>(indices + i * frame->strides[1]);
    if (index < -size || index >= size) {
      frame->errorPosition = i;
      frame->errorAccess = 1;
      return kKernelIndexOutOfRange;
    }
    index += index < 0 ? size : 0;
    out[i] = *reinterpret_cast<const float *>(base + i * frame->strides[0] + index * stride);
  }
  return kKernelOk;
}

TEST_KERNEL int32_t compactF32(KernelFrame *frame) {
  auto *mask = static_cast<const uint8_t *>(frame->pointers[0]);
  auto *a = static_cast<const float *>(frame->pointers[1]);
  auto *packed = static_cast<float *>(frame->pointers[2]);
  int64_t count = 0;
  for (int64_t i = frame->begin; i < frame->end; ++i) {
    if (mask[i]) {
      packed[count++] = a[i];
    }
  }
  frame->count = count;
  return kKernelOk;
}

TEST_KERNEL int32_t maskedSum(KernelFrame *frame) {
  auto *mask = static_cast<const uint8_t *>(frame->pointers[0]);
  auto *a = static_cast<const int64_t *>(frame->pointers[1]);
  auto *out = static_cast<int64_t *>(frame->pointers[2]);
  int64_t count = 0;
  uint64_t sum = 0;
  for (int64_t i = frame->begin; i < frame->end; ++i) {
    if (mask[i]) {
      sum += static_cast<uint64_t>(a[i]);
      ++count;
    }
  }
  *out = static_cast<int64_t>(sum);
  frame->count = count;
  return kKernelOk;
}

TEST_KERNEL int32_t doubleIntoSet(KernelFrame *frame) {
  auto *a = static_cast<const char *>(frame->pointers[0]);
  auto *set = static_cast<char *>(frame->pointers[1]);
  for (int64_t i = frame->begin; i < frame->end; ++i) {
    float value = *reinterpret_cast<const float *>(a + i * frame->strides[0]);
    *reinterpret_cast<float *>(set + i * frame->strides[1]) = value + value;
  }
  return kKernelOk;
}

} // namespace tracert::test
