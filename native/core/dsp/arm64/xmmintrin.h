/* For arm64, in place of the header of x86 that kissfft includes with USE_SIMD. */
#ifndef UNDERTONE_XMMINTRIN_H
#define UNDERTONE_XMMINTRIN_H

#include <stdlib.h>

static inline void* undertone_aligned_alloc(size_t size, size_t alignment) {
  return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

#define _mm_malloc undertone_aligned_alloc
#define _mm_free free

#endif
