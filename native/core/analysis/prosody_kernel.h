#pragma once

// The frame loop of voice.cc, compiled once per vector width from voice_kernel.cc. Only plain C types cross
// this line, as in kernel.h.

#include <cstddef>

namespace undertone {

constexpr int kVoiceBands = 5;
// Columns of a frame's row: band powers, one unused, then the autocorrelation.
constexpr int kAutocorrelationColumn = 8;

struct VoicePlan {
  int frame_length;
  int hop;
  int fft_length;               // even, a product of 2, 3 and 5, at least frame_length + lags
  int lags;                     // a multiple of 4
  const float* window;          // [frame_length]
  const float* gain;            // [fft_length / 2 + 1] on the power, 0 from `gain_end` on
  int gain_end;                 // at most fft_length / 2
  int band_first[kVoiceBands];  // bin
  int band_last[kVoiceBands];   // bin, included
};

struct VoiceKernel {
  // Aligned scratch and FFT plan for one thread; nullptr when memory is short.
  void* (*create)(const VoicePlan& plan);
  void (*destroy)(void* state);
  // Frames [0, lanes) start at samples + lane * hop; row `lane` is written at
  // rows + lane * (kAutocorrelationColumn + lags): mean power a bin in each band, then the autocorrelation at
  // lags 0 .. lags - 1.
  void (*run)(void* state, const float* samples, float* rows);
};

namespace lanes1 {
extern const VoiceKernel kVoiceKernel;
}
namespace lanes4 {
extern const VoiceKernel kVoiceKernel;
}
namespace lanes8 {
extern const VoiceKernel kVoiceKernel;
}
namespace lanes16 {
extern const VoiceKernel kVoiceKernel;
}

}  // namespace undertone
