#pragma once

// Pitch, level and spectral tilt of every 10 ms, for the measures of a recording.

#include <cstddef>
#include <memory>
#include <vector>

#include "dsp/lanes.h"

namespace undertone {

constexpr size_t kVoiceHop = 160;  // samples of 16 kHz: 10 ms

// One value a frame; frame i is centred on sample i * kVoiceHop, as log-mel frames are.
struct VoiceTrack {
  std::vector<float> pitch_hz;  // 0 where the frame is unvoiced
  std::vector<float> level_db;  // power up to 4 kHz re full scale, a sine being at -3; -100 in silence
  std::vector<float> tilt_db;   // dB an octave, power density, 354 Hz to 2828 Hz; 0 in silence
};

// Holds plans and scratch: one per thread. A call allocates its result and what the path through the frames
// needs: 76 bytes a frame, none of it frame by frame.
class VoiceTracker {
 public:
  explicit VoiceTracker(Lanes lanes = Lanes::kAuto);
  ~VoiceTracker();
  VoiceTracker(const VoiceTracker&) = delete;
  VoiceTracker& operator=(const VoiceTracker&) = delete;

  static size_t Frames(size_t sample_count) { return sample_count / kVoiceHop; }
  // Mono samples of 16 kHz in [-1, 1], finite. Each array gets Frames(count) values.
  void Track(const float* samples, size_t count, float* pitch_hz, float* level_db, float* tilt_db);
  VoiceTrack operator()(const float* samples, size_t count);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace undertone
