/* Included by the build into each file that is compiled once per vector width. UNDERTONE_LANES is the number
 * of frames computed side by side. It replaces the four floats of kissfft's USE_SIMD. */
#ifndef UNDERTONE_FFT_LANES_H
#define UNDERTONE_FFT_LANES_H

#define UNDERTONE_JOIN_(a, b) a##b
#define UNDERTONE_JOIN(a, b) UNDERTONE_JOIN_(a, b)
#define UNDERTONE_LANES_NAMESPACE UNDERTONE_JOIN(lanes, UNDERTONE_LANES)

#define kiss_fft_alloc UNDERTONE_JOIN(undertone_kiss_fft_alloc_, UNDERTONE_LANES)
#define kiss_fft UNDERTONE_JOIN(undertone_kiss_fft_, UNDERTONE_LANES)
#define kiss_fft_stride UNDERTONE_JOIN(undertone_kiss_fft_stride_, UNDERTONE_LANES)
#define kiss_fft_cleanup UNDERTONE_JOIN(undertone_kiss_fft_cleanup_, UNDERTONE_LANES)
#define kiss_fft_next_fast_size UNDERTONE_JOIN(undertone_kiss_fft_next_fast_size_, UNDERTONE_LANES)
#define kiss_fftr_alloc UNDERTONE_JOIN(undertone_kiss_fftr_alloc_, UNDERTONE_LANES)
#define kiss_fftr UNDERTONE_JOIN(undertone_kiss_fftr_, UNDERTONE_LANES)
#define kiss_fftri UNDERTONE_JOIN(undertone_kiss_fftri_, UNDERTONE_LANES)

#if UNDERTONE_LANES > 1
#ifdef __aarch64__
#include <arm_neon.h>
#else
#include <immintrin.h>
#endif
#define USE_SIMD 1
/* kissfft aligns to the 16 bytes of four lanes. */
#define KISS_FFT_MALLOC(nbytes) _mm_malloc(nbytes, 64)
#define KISS_FFT_ALIGN_CHECK(ptr)
#define KISS_FFT_ALIGN_SIZE_UP(size) ((size + 63UL) & ~63UL)
typedef float undertone_lanes __attribute__((vector_size(4 * UNDERTONE_LANES)));
static inline undertone_lanes undertone_broadcast(float x) { return (undertone_lanes){} + x; }
#define __m128 undertone_lanes
#define _mm_set1_ps(x) undertone_broadcast((float)(x))
/* Header of kissfft's real plan: four pointers, three without USE_SIMD. fft_plan_layout.c checks it. */
#define UNDERTONE_FFT_PLAN_HEADER_BYTES (4 * sizeof(void*))
#else
#define UNDERTONE_FFT_PLAN_HEADER_BYTES (3 * sizeof(void*))
typedef float undertone_lanes;
static inline undertone_lanes undertone_broadcast(float x) { return x; }
#endif

#endif
