#pragma once

// Fundamental frequency after Boersma 1993, "Accurate short-term analysis of the fundamental frequency and
// the harmonics-to-noise ratio of a sampled sound", Proceedings of the Institute of Phonetic Sciences
// Amsterdam 17, 97-110: peaks of the autocorrelation, divided by the window's own, compete with an unvoiced
// candidate, and the cheapest path through the frames wins. Names and values of the constants are his where
// not said otherwise in pitch.cc.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace undertone {

constexpr int kPitchRate = 16000;  // samples a second
constexpr double kLowestPitchHz = 60;
constexpr double kHighestPitchHz = 500;
constexpr size_t kVoicedCandidates = 7;

// One frame's ways to be heard; the last one is unvoiced. Unused ones have a strength that no path takes.
struct PitchCandidates {
  float octaves[kVoicedCandidates + 1];   // log2 of Hz
  float strength[kVoicedCandidates + 1];  // of the unvoiced one only when PitchPath knows the loudest frame
};

// `correlation` holds the autocorrelation at lags 0 .. lags - 1, lag 0 being 1 or 0 in silence; lags reach
// past kPitchRate / kLowestPitchHz.
PitchCandidates FindPitchCandidates(const float* correlation, size_t lags);

// The cheapest path: Hz of each frame, 0 where it is unvoiced. `amplitude` is each frame's RMS; `pitch_hz`
// has as many places as there are candidates.
void FindPitchPath(std::vector<PitchCandidates>* candidates, const std::vector<float>& amplitude,
                   float* pitch_hz);

}  // namespace undertone
