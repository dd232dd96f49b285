#pragma once

// The frame loops of Extractor and ProsodyTracker, compiled once per vector width with fft.cc and kissfft.
// The interface has plain C types only: the linker could pick a template instantiated with wide instructions
// for a processor without them.

#include <cstddef>

#include "dsp/lanes.h"

namespace undertone {

// Static: each width has a copy.
static inline size_t RoundUpToFour(size_t count) { return (count + 3) / 4 * 4; }

// The plan of a spec. The Extractor owns the arrays.
struct FramePlan {
  int win_length;
  int hop_length;
  int n_fft;
  int n_mels;
  int n_mfcc;           // 0: log-mel
  const float* window;  // [win_length]
  float preemphasis;
  bool remove_dc;
  bool magnitude;
  bool energy;  // raw log energy in column 0
  const int* mel_first;
  const int* mel_count;
  const float* mel_weights;
  float log_floor;
  bool logarithm;
  float log_gain;  // 1 for natural logarithms, log10(e) for decimal ones
  float offset;
  float scale;
  const float* dct;  // [n_mfcc x n_mels]
};

struct FrameKernel {
  size_t lanes;
  // Returns aligned scratch and an FFT plan for one thread; nullptr: out of memory.
  void* (*create)(const FramePlan& plan);
  void (*destroy)(void* state);
  // Frames [0, lanes) start at samples + lane * hop_length; row `lane` is written at rows + lane * stride.
  // `stride` is a multiple of 4 and at least the number of columns: entries past the columns are overwritten.
  void (*run)(void* state, const float* samples, float* rows, size_t stride);
};

UNDERTONE_DECLARE_PER_WIDTH(FrameKernel, kFrameKernel)

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
