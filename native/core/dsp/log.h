#pragma once

// Natural logarithm of UNDERTONE_LANES normal positive floats (fft_lanes.h): the polynomial of Cephes logf on
// [sqrt(1/2), sqrt(2)), error below 2e-7, absolute or relative. Infinity becomes 88.72.

#include "dsp/fft_lanes.h"

namespace undertone {
namespace UNDERTONE_LANES_NAMESPACE {
namespace {

#if UNDERTONE_LANES > 1
typedef int LaneBits __attribute__((vector_size(4 * UNDERTONE_LANES)));
inline undertone_lanes ToFloat(LaneBits x) { return __builtin_convertvector(x, undertone_lanes); }
#else
typedef int LaneBits;
inline undertone_lanes ToFloat(LaneBits x) { return static_cast<float>(x); }
#endif

inline undertone_lanes Log(undertone_lanes x) {
  constexpr int kSqrtHalf = 0x3f3504f3;
  LaneBits bits;
  __builtin_memcpy(&bits, &x, sizeof(bits));
  bits -= kSqrtHalf;
  const undertone_lanes exponent = ToFloat(bits >> 23);
  bits = (bits & 0x007fffff) + kSqrtHalf;
  undertone_lanes f;
  __builtin_memcpy(&f, &bits, sizeof(f));
  f -= 1.0f;
  undertone_lanes y = f * 7.0376836292e-2f - 1.1514610310e-1f;
  y = y * f + 1.1676998740e-1f;
  y = y * f - 1.2420140846e-1f;
  y = y * f + 1.4249322787e-1f;
  y = y * f - 1.6668057665e-1f;
  y = y * f + 2.0000714765e-1f;
  y = y * f - 2.4999993993e-1f;
  y = y * f + 3.3333331174e-1f;
  const undertone_lanes square = f * f;
  y = y * f * square - exponent * 2.12194440e-4f - square * 0.5f;
  return f + y + exponent * 0.693359375f;
}

}  // namespace
}  // namespace UNDERTONE_LANES_NAMESPACE
}  // namespace undertone
