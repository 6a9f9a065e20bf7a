#include "CoreTables.h"

#include "tracert/scalar/Lanes.h"

#include <cstring>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace tracert::TRACERT_ISA {
namespace {

int64_t countTrueBytes(const uint8_t *mask, int64_t maskStride, int64_t count) {
  int64_t total = 0;
  if (maskStride != 1) {
    for (int64_t i = 0; i < count; ++i) {
      total += mask[i * maskStride] != 0;
    }
    return total;
  }
  int64_t i = 0;
#if defined(__AVX512BW__)
  for (; i + 64 <= count; i += 64) {
    __m512i bytes = _mm512_loadu_si512(mask + i);
    total += __builtin_popcountll(_mm512_test_epi8_mask(bytes, bytes));
  }
#endif
  for (; i < count; ++i) {
    total += mask[i] != 0;
  }
  return total;
}

#if defined(__AVX512F__)
/// Packs up to 16 elements by the low 16 bits of `selected` and stores a full vector. The register
/// form of compress with a merge source: the store form is slow on some processors, and the
/// zeroing form has a false dependency on others.
template <int64_t size>
TRACERT_INLINE void compress16(const char *values, uint32_t selected, char *output) {
  auto mask = static_cast<__mmask16>(selected);
  if constexpr (size == 8) {
    auto low = static_cast<__mmask8>(selected);
    auto high = static_cast<__mmask8>(selected >> 8);
    __m512i first = _mm512_loadu_si512(values);
    __m512i second = _mm512_loadu_si512(values + 64);
    _mm512_storeu_si512(output, _mm512_mask_compress_epi64(first, low, first));
    _mm512_storeu_si512(output + 8 * __builtin_popcount(low),
                        _mm512_mask_compress_epi64(second, high, second));
  } else if constexpr (size == 4) {
    __m512i lanes = _mm512_loadu_si512(values);
    _mm512_storeu_si512(output, _mm512_mask_compress_epi32(lanes, mask, lanes));
  } else if constexpr (size == 2) {
    __m512i lanes =
        _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(values)));
    lanes = _mm512_mask_compress_epi32(lanes, mask, lanes);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(output), _mm512_cvtepi32_epi16(lanes));
  } else {
    __m512i lanes =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(values)));
    lanes = _mm512_mask_compress_epi32(lanes, mask, lanes);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(output), _mm512_cvtepi32_epi8(lanes));
  }
}
#endif

/// Packs the selected ones of `count` elements; whole vectors may be stored up to `capacity`.
template <int64_t size>
int64_t compactElements(const MaskedSequence &sequence, void *output, int64_t capacity) {
  const char *values = static_cast<const char *>(sequence.values);
  const uint8_t *mask = sequence.mask;
  char *out = static_cast<char *>(output);
  int64_t written = 0;
  int64_t i = 0;
#if defined(__AVX512F__)
  if (sequence.valueStride == size && sequence.maskStride == 1) {
    for (; i + 64 <= sequence.count && written + 64 <= capacity; i += 64) {
      __m512i bytes = _mm512_loadu_si512(mask + i);
      uint64_t selected = _mm512_test_epi8_mask(bytes, bytes);
      if (selected == 0) {
        continue;
      }
      if (selected == ~uint64_t(0)) {
        std::memcpy(out + written * size, values + i * size, size_t(64 * size));
        written += 64;
        continue;
      }
      for (int part = 0; part < 4; ++part, selected >>= 16) {
        compress16<size>(values + (i + part * 16) * size, uint32_t(selected & 0xFFFF),
                         out + written * size);
        written += __builtin_popcountll(selected & 0xFFFF);
      }
    }
  }
#endif
  // Store always, step if selected: no branch to mispredict. The last place is kept apart.
  for (; i < sequence.count && written < capacity; ++i) {
    std::memcpy(out + written * size, values + i * sequence.valueStride, size_t(size));
    written += mask[i * sequence.maskStride] != 0;
  }
  return written;
}

} // namespace

void fillMaskedCores(KernelCores &cores) {
  cores.countTrue = countTrueBytes;
  cores.compact[0] = compactElements<1>;
  cores.compact[1] = compactElements<2>;
  cores.compact[2] = compactElements<4>;
  cores.compact[3] = compactElements<8>;
}

} // namespace tracert::TRACERT_ISA
