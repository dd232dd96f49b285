#include "analysis/pitch.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace undertone {
namespace {

constexpr size_t kUnvoiced = kVoicedCandidates;
constexpr size_t kStates = kVoicedCandidates + 1;
constexpr float kImpossible = -1e9F;

// Boersma's values are 0.45, 0.03, 0.01, 0.35 and 0.14. The first four are higher because more frames then
// agree with a second, learned estimator (docs/measures.md). Costs are per step of 10 ms, as in his paper.
constexpr float kVoicingThreshold = 0.55F;
constexpr float kSilenceThreshold = 0.05F;  // of the RMS of the loudest frame; his is relative to the peak
constexpr float kOctaveCost = 0.02F;
constexpr float kOctaveJumpCost = 0.5F;
constexpr float kVoicedUnvoicedCost = 0.14F;

struct Peak {
  float lag;
  float height;
};

// Parabolic interpolation of a local maximum.
Peak Parabola(const float* correlation, size_t lag) {
  const float left = correlation[lag - 1];
  const float middle = correlation[lag];
  const float right = correlation[lag + 1];
  const float curve = left - 2 * middle + right;
  const float shift = curve < 0 ? 0.5F * (left - right) / curve : 0.0F;
  return {static_cast<float>(lag) + shift, middle - 0.25F * (left - right) * shift};
}

// Replaces the weakest candidate by a stronger one.
void KeepBest(float log2_hz, float strength, PitchCandidates* candidates) {
  float* weakest = std::min_element(candidates->strength, candidates->strength + kVoicedCandidates);
  if (strength <= *weakest) return;
  *weakest = strength;
  candidates->log2_hz[weakest - candidates->strength] = log2_hz;
}

float UnvoicedStrength(float amplitude, float loudest) {
  if (amplitude <= 0) return kVoicingThreshold + 2;
  const float relative = amplitude / loudest;
  return kVoicingThreshold + std::max(0.0F, 2 - relative / (kSilenceThreshold / (1 + kVoicingThreshold)));
}

float Transition(const PitchCandidates& from, size_t i, const PitchCandidates& to, size_t j) {
  if ((i == kUnvoiced) != (j == kUnvoiced)) return kVoicedUnvoicedCost;
  if (i == kUnvoiced) return 0;
  return kOctaveJumpCost * std::abs(from.log2_hz[i] - to.log2_hz[j]);
}

// Advances `score`, the best score of each candidate, by one frame.
void ViterbiStep(const PitchCandidates& from, const PitchCandidates& to, float* score, uint8_t* backpointer) {
  float next[kStates];
  for (size_t j = 0; j < kStates; ++j) {
    float best = std::numeric_limits<float>::lowest();
    for (size_t i = 0; i < kStates; ++i) {
      const float value = score[i] - Transition(from, i, to, j);
      if (value <= best) continue;
      best = value;
      backpointer[j] = static_cast<uint8_t>(i);
    }
    next[j] = std::max(best + to.strength[j], kImpossible);
  }
  // Keeps the best score at 0, so that long recordings lose no precision.
  const float top = *std::max_element(next, next + kStates);
  for (size_t j = 0; j < kStates; ++j) score[j] = next[j] - top;
}

}  // namespace

PitchCandidates FindPitchCandidates(const float* correlation, size_t lags) {
  constexpr size_t kMinLag = static_cast<size_t>(kPitchRate / kMaxPitchHz);
  constexpr size_t kMaxLag = static_cast<size_t>(kPitchRate / kMinPitchHz);
  PitchCandidates candidates = {};
  std::fill(candidates.strength, candidates.strength + kVoicedCandidates, kImpossible);
  for (size_t lag = kMinLag; lag <= std::min(kMaxLag, lags - 2); ++lag) {
    if (correlation[lag] < 0.5F * kVoicingThreshold) continue;
    if (correlation[lag] <= correlation[lag - 1] || correlation[lag] < correlation[lag + 1]) continue;
    const Peak peak = Parabola(correlation, lag);
    const float log2_hz = std::log2(kPitchRate / peak.lag);
    // Interpolated heights over 1 become their reciprocal, as in Praat.
    const float height = std::min(peak.height, 1 / peak.height);
    KeepBest(log2_hz, height - kOctaveCost * (std::log2(static_cast<float>(kMinPitchHz)) - log2_hz),
             &candidates);
  }
  return candidates;
}

void Viterbi(std::vector<PitchCandidates>* candidates, const std::vector<float>& amplitude, float* pitch_hz) {
  const size_t frames = candidates->size();
  if (frames == 0) return;
  const float loudest = *std::max_element(amplitude.begin(), amplitude.end());
  std::vector<uint8_t> backpointers(frames * kStates);
  float score[kStates] = {};
  for (size_t frame = 0; frame < frames; ++frame) {
    PitchCandidates& to = (*candidates)[frame];
    to.strength[kUnvoiced] = UnvoicedStrength(amplitude[frame], loudest);
    ViterbiStep((*candidates)[frame == 0 ? 0 : frame - 1], to, score, backpointers.data() + frame * kStates);
  }
  size_t state = static_cast<size_t>(std::max_element(score, score + kStates) - score);
  for (size_t frame = frames; frame-- > 0;) {
    pitch_hz[frame] = state == kUnvoiced ? 0.0F : std::exp2((*candidates)[frame].log2_hz[state]);
    state = backpointers[frame * kStates + state];
  }
}

}  // namespace undertone
