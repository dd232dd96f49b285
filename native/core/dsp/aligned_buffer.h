#pragma once

// Aligned arrays of vectors, for files compiled once per vector width (see fft_lanes.h).

#include <cstddef>
#include <cstdlib>

#include "dsp/fft_lanes.h"

namespace undertone {
namespace UNDERTONE_LANES_NAMESPACE {
namespace {

// Zeros, aligned for each width. The caller frees them with free(); nullptr: out of memory.
inline undertone_lanes* AllocateZeroed(size_t count) {
  const size_t bytes = (count * sizeof(undertone_lanes) + 63) / 64 * 64;
  undertone_lanes* lanes = static_cast<undertone_lanes*>(std::aligned_alloc(64, bytes));
  if (lanes != nullptr) __builtin_memset(lanes, 0, bytes);
  return lanes;
}

}  // namespace
}  // namespace UNDERTONE_LANES_NAMESPACE
}  // namespace undertone
