#pragma once

// The frame loop of Extractor, compiled once per vector width with fft.cc and kissfft. The interface has
// plain C types only: the linker could pick a template instantiated with wide instructions for a processor
// without them.

#include <cstddef>

#include "dsp/lanes.h"

namespace undertone {

// Static: each width has its own copy.
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

}  // namespace undertone
