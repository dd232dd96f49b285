#pragma once

// The frame loop of ProsodyTracker, compiled once per vector width. Plain C types only, as in frame_kernel.h.

#include <cstddef>

#include "dsp/lanes.h"

namespace undertone {

constexpr int kTiltBands = 5;
// Columns of a row: band powers, unused ones, then the autocorrelation.
constexpr int kAutocorrelationColumn = 8;

struct ProsodyPlan {
  int win_length;
  int hop_length;
  int n_fft;                   // even, a product of 2, 3 and 5, at least win_length + lags
  int lags;                    // a multiple of 4
  const float* window;         // [win_length]
  const float* gain;           // [n_fft / 2 + 1] on the power, 0 from `gain_end` on
  int gain_end;                // at most n_fft / 2
  int band_first[kTiltBands];  // bin
  int band_last[kTiltBands];   // bin, inclusive
};

struct ProsodyKernel {
  size_t lanes;
  // Returns aligned scratch and an FFT plan for one thread; nullptr: out of memory.
  void* (*create)(const ProsodyPlan& plan);
  void (*destroy)(void* state);
  // Frames [0, lanes) start at samples + lane * hop_length; row `lane` is written at
  // rows + lane * (kAutocorrelationColumn + lags): mean power per bin of each band, then the autocorrelation
  // at lags 0 .. lags - 1.
  void (*run)(void* state, const float* samples, float* rows);
};

UNDERTONE_DECLARE_PER_WIDTH(ProsodyKernel, kProsodyKernel)

}  // namespace undertone
