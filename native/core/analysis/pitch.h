#pragma once

// Fundamental frequency after Boersma 1993, "Accurate short-term analysis of the fundamental frequency and
// the harmonics-to-noise ratio of a sampled sound", Proceedings of the Institute of Phonetic Sciences
// Amsterdam 17, 97-110. Candidates are the peaks of the autocorrelation, divided by that of the window, and
// an unvoiced one; a Viterbi search selects one per frame. Constants have his names, and his values except
// where pitch.cc says otherwise.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace undertone {

constexpr int kPitchRate = 16000;  // samples a second
constexpr double kMinPitchHz = 60;
constexpr double kMaxPitchHz = 500;
constexpr size_t kVoicedCandidates = 7;

// Pitch candidates of one frame. The last one is unvoiced. Unused ones have a strength that no path selects.
struct PitchCandidates {
  float log2_hz[kVoicedCandidates + 1];   // log2 of Hz
  float strength[kVoicedCandidates + 1];  // Viterbi sets that of the unvoiced one
};

// `correlation`: autocorrelation at lags 0 to lags - 1; 1 at lag 0, or 0 in silence. `lags` must exceed
// kPitchRate / kMinPitchHz.
PitchCandidates FindPitchCandidates(const float* correlation, size_t lags);

// Writes the pitch of each frame along the best path, in Hz, 0 where unvoiced. `amplitude`: RMS per frame.
void Viterbi(std::vector<PitchCandidates>* candidates, const std::vector<float>& amplitude, float* pitch_hz);

}  // namespace undertone
