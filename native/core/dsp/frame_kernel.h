#pragma once

// The frame loop, compiled once per vector width from kernel.cc, fft.cc and kissfft. Only plain C types cross
// this line: a template instantiated under wide instructions could be picked by the linker for a processor
// without them.

#include <cstddef>

namespace undertone {

// Everything planned for a spec; arrays belong to the Extractor.
struct KernelPlan {
  int frame_length;
  int hop;
  int fft_length;
  int bins;
  int coefficients;     // 0: log-mel
  const float* window;  // [frame_length]
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
  const float* cepstrum;  // [coefficients x bins]
};

struct Kernel {
  int lanes;
  // Aligned scratch and FFT plan for one thread; nullptr when memory is short.
  void* (*create)(const KernelPlan& plan);
  void (*destroy)(void* state);
  // Frames [0, lanes) start at samples + lane * hop; row `lane` is written at rows + lane * stride. `stride`
  // is a multiple of 4 and at least the number of columns: entries past the columns are overwritten.
  void (*run)(void* state, const float* samples, float* rows, size_t stride);
};

namespace lanes1 {
extern const Kernel kKernel;
}
namespace lanes4 {
extern const Kernel kKernel;
}
namespace lanes8 {
extern const Kernel kKernel;
}
namespace lanes16 {
extern const Kernel kKernel;
}

}  // namespace undertone
