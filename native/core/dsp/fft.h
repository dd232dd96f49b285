#pragma once

// Real FFT of UNDERTONE_LANES frames at once, for files compiled once per vector width (see fft_lanes.h).

#include "dsp/fft_lanes.h"

namespace undertone {
namespace UNDERTONE_LANES_NAMESPACE {

struct Fft;

// `n`: even and a product of 2, 3 and 5, for which kissfft does not allocate per call. nullptr: out of
// memory.
Fft* CreateFft(int n);
void DestroyFft(Fft* fft);
// `frames` holds n values; `spectrum` gets n / 2 + 1 pairs (real, imaginary), unscaled.
void RunFft(Fft* fft, const undertone_lanes* frames, undertone_lanes* spectrum);

}  // namespace UNDERTONE_LANES_NAMESPACE
}  // namespace undertone
