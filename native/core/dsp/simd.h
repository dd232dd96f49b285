#pragma once

// Vectors of UNDERTONE_LANES floats, one per frame: memory, arithmetic, logarithm, and transposes between
// frames (rows in memory) and lanes (a vector with one position of each frame). For files compiled once per
// vector width (see fft_lanes.h).

#include <cstddef>
#include <cstdlib>

#include "dsp/fft_lanes.h"

#undef __m128  // kissfft's; some of clang's intrinsics are macros that cast to the real one

namespace undertone {
namespace UNDERTONE_LANES_NAMESPACE {
namespace {

#if UNDERTONE_LANES == 4 && defined(__aarch64__)
#define UNDERTONE_NEON 1
#elif UNDERTONE_LANES == 4
#define UNDERTONE_MM(name) _mm_##name
#elif UNDERTONE_LANES == 8
#define UNDERTONE_MM(name) _mm256_##name
#elif UNDERTONE_LANES == 16
#define UNDERTONE_MM(name) _mm512_##name
#endif

// Zeros, aligned for each width. The caller frees them with free(); nullptr: out of memory.
inline undertone_lanes* AllocateZeroed(size_t count) {
  const size_t bytes = (count * sizeof(undertone_lanes) + 63) / 64 * 64;
  undertone_lanes* lanes = static_cast<undertone_lanes*>(std::aligned_alloc(64, bytes));
  if (lanes != nullptr) __builtin_memset(lanes, 0, bytes);
  return lanes;
}

inline undertone_lanes Max(undertone_lanes x, undertone_lanes y) { return x > y ? x : y; }

#if UNDERTONE_NEON
inline undertone_lanes SquareRoot(undertone_lanes x) { return vsqrtq_f32(x); }
#elif UNDERTONE_LANES > 1
inline undertone_lanes SquareRoot(undertone_lanes x) { return UNDERTONE_MM(sqrt_ps)(x); }
#else
inline undertone_lanes SquareRoot(undertone_lanes x) { return __builtin_sqrtf(x); }
#endif

#if UNDERTONE_LANES > 1
typedef int LaneBits __attribute__((vector_size(4 * UNDERTONE_LANES)));
inline undertone_lanes ToFloat(LaneBits x) { return __builtin_convertvector(x, undertone_lanes); }
#else
typedef int LaneBits;
inline undertone_lanes ToFloat(LaneBits x) { return static_cast<float>(x); }
#endif

// Natural logarithm of normal positive floats: the polynomial of Cephes logf on [sqrt(1/2), sqrt(2)), error
// below 2e-7, absolute or relative. Infinity becomes 88.72.
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

#if UNDERTONE_LANES > 1

// Four floats of rows k, k + 4, k + 8, ... as the 128-bit quarters of one vector.
inline undertone_lanes LoadQuads(const float* row, size_t stride) {
#if UNDERTONE_NEON
  (void)stride;
  return vld1q_f32(row);
#elif UNDERTONE_LANES == 4
  (void)stride;
  return _mm_loadu_ps(row);
#elif UNDERTONE_LANES == 8
  return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(row)), _mm_loadu_ps(row + 4 * stride), 1);
#else
  auto quads = _mm512_castps128_ps512(_mm_loadu_ps(row));
  quads = _mm512_insertf32x4(quads, _mm_loadu_ps(row + 4 * stride), 1);
  quads = _mm512_insertf32x4(quads, _mm_loadu_ps(row + 8 * stride), 2);
  return _mm512_insertf32x4(quads, _mm_loadu_ps(row + 12 * stride), 3);
#endif
}

inline void StoreQuads(undertone_lanes quads, float* row, size_t stride) {
#if UNDERTONE_NEON
  (void)stride;
  vst1q_f32(row, quads);
#elif UNDERTONE_LANES == 4
  (void)stride;
  _mm_storeu_ps(row, quads);
#elif UNDERTONE_LANES == 8
  _mm_storeu_ps(row, _mm256_castps256_ps128(quads));
  _mm_storeu_ps(row + 4 * stride, _mm256_extractf128_ps(quads, 1));
#else
  _mm_storeu_ps(row, _mm512_castps512_ps128(quads));
  _mm_storeu_ps(row + 4 * stride, _mm512_extractf32x4_ps(quads, 1));
  _mm_storeu_ps(row + 8 * stride, _mm512_extractf32x4_ps(quads, 2));
  _mm_storeu_ps(row + 12 * stride, _mm512_extractf32x4_ps(quads, 3));
#endif
}

// Transposes the 4 x 4 matrix that each 128-bit quarter of v[0..3] makes; twice is the identity.
inline void TransposeQuads(undertone_lanes* v) {
#if UNDERTONE_NEON
  const undertone_lanes a = vzip1q_f32(v[0], v[2]);
  const undertone_lanes b = vzip1q_f32(v[1], v[3]);
  const undertone_lanes c = vzip2q_f32(v[0], v[2]);
  const undertone_lanes d = vzip2q_f32(v[1], v[3]);
  v[0] = vzip1q_f32(a, b);
  v[1] = vzip2q_f32(a, b);
  v[2] = vzip1q_f32(c, d);
  v[3] = vzip2q_f32(c, d);
#else
  const undertone_lanes a = UNDERTONE_MM(unpacklo_ps)(v[0], v[1]);
  const undertone_lanes b = UNDERTONE_MM(unpackhi_ps)(v[0], v[1]);
  const undertone_lanes c = UNDERTONE_MM(unpacklo_ps)(v[2], v[3]);
  const undertone_lanes d = UNDERTONE_MM(unpackhi_ps)(v[2], v[3]);
  v[0] = UNDERTONE_MM(shuffle_ps)(a, c, 0x44);
  v[1] = UNDERTONE_MM(shuffle_ps)(a, c, 0xee);
  v[2] = UNDERTONE_MM(shuffle_ps)(b, d, 0x44);
  v[3] = UNDERTONE_MM(shuffle_ps)(b, d, 0xee);
#endif
}

// Loads positions 0 to 3 of every row.
inline void LoadFour(const float* rows, size_t stride, undertone_lanes* four) {
  for (size_t k = 0; k < 4; ++k) four[k] = LoadQuads(rows + k * stride, stride);
  TransposeQuads(four);
}

// The reverse of LoadFour. Overwrites `four`.
inline void StoreFour(undertone_lanes* four, float* rows, size_t stride) {
  TransposeQuads(four);
  for (size_t k = 0; k < 4; ++k) StoreQuads(four[k], rows + k * stride, stride);
}

// Loads position 0 of every row.
inline undertone_lanes LoadOne(const float* rows, size_t stride) {
  undertone_lanes one = {};
  for (size_t lane = 0; lane < UNDERTONE_LANES; ++lane) one[lane] = rows[lane * stride];
  return one;
}

#else

inline void LoadFour(const float* rows, size_t, undertone_lanes* four) {
  for (size_t k = 0; k < 4; ++k) four[k] = rows[k];
}

inline void StoreFour(undertone_lanes* four, float* rows, size_t) {
  for (size_t k = 0; k < 4; ++k) rows[k] = four[k];
}

// Loads position 0 of every row.
inline undertone_lanes LoadOne(const float* rows, size_t) { return rows[0]; }

#endif

// Positions 0 to length - 1 of each row, times the window.
inline void LoadWindowed(const float* rows, size_t stride, const float* window, size_t length,
                         undertone_lanes* lanes) {
  size_t i = 0;
  for (; i + 4 <= length; i += 4) {
    LoadFour(rows + i, stride, lanes + i);
    for (size_t k = 0; k < 4; ++k) lanes[i + k] *= window[i + k];
  }
  for (; i < length; ++i) lanes[i] = LoadOne(rows + i, stride) * window[i];
}

}  // namespace
}  // namespace UNDERTONE_LANES_NAMESPACE
}  // namespace undertone
