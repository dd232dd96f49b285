#pragma once

// Pitch, level and spectral tilt every 10 ms.

#include <cstddef>
#include <memory>
#include <vector>

#include "dsp/lanes.h"

namespace undertone {

constexpr int kProsodyRate = 16000;  // samples a second
constexpr size_t kProsodyHop = 160;  // samples: 10 ms

// One value per frame. Frame i is centred on sample i * kProsodyHop, like log-mel frames.
struct ProsodyTrack {
  std::vector<float> pitch_hz;  // 0: unvoiced
  std::vector<float> level_db;  // power up to 4 kHz re full scale (a full-scale sine: -3); -100 in silence
  std::vector<float> tilt_db;   // slope of the power density from 354 to 2828 Hz, dB per octave; 0 in silence
};

// Holds plans and scratch: one per thread. A call allocates its result and 76 bytes per frame, at once.
class ProsodyTracker {
 public:
  explicit ProsodyTracker(Lanes lanes = Lanes::kAuto);
  ~ProsodyTracker();
  ProsodyTracker(const ProsodyTracker&) = delete;
  ProsodyTracker& operator=(const ProsodyTracker&) = delete;

  static size_t Frames(size_t sample_count) { return sample_count / kProsodyHop; }
  // Mono finite samples at 16 kHz, full scale 1. Writes Frames(count) values to each array.
  void Track(const float* samples, size_t count, float* pitch_hz, float* level_db, float* tilt_db);
  ProsodyTrack operator()(const float* samples, size_t count);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace undertone
