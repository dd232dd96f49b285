#include "analysis/prosody.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

#include "dsp/frame_kernels.h"

namespace undertone {
namespace {

// Fundamental frequency after Boersma 1993, "Accurate short-term analysis of the fundamental frequency and
// the harmonics-to-noise ratio of a sampled sound", Proceedings of the Institute of Phonetic Sciences
// Amsterdam 17, 97-110. Candidates are the peaks of the autocorrelation, divided by that of the window, and
// an unvoiced one; a Viterbi search selects one per frame. Constants have his names, and his values except
// where a comment says otherwise.

constexpr double kMinPitchHz = 60;
constexpr double kMaxPitchHz = 500;
constexpr size_t kVoicedCandidates = 7;

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

// Pitch candidates of one frame. The last one is unvoiced. Unused ones have a strength that no path selects.
struct PitchCandidates {
  float log2_hz[kVoicedCandidates + 1];   // log2 of Hz
  float strength[kVoicedCandidates + 1];  // Viterbi sets that of the unvoiced one
};

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

// `correlation`: autocorrelation at lags 0 to lags - 1; 1 at lag 0, or 0 in silence. `lags` must exceed
// kProsodyRate / kMinPitchHz.
PitchCandidates FindPitchCandidates(const float* correlation, size_t lags) {
  constexpr size_t kMinLag = static_cast<size_t>(kProsodyRate / kMaxPitchHz);
  constexpr size_t kMaxLag = static_cast<size_t>(kProsodyRate / kMinPitchHz);
  PitchCandidates candidates = {};
  std::fill(candidates.strength, candidates.strength + kVoicedCandidates, kImpossible);
  for (size_t lag = kMinLag; lag <= std::min(kMaxLag, lags - 2); ++lag) {
    if (correlation[lag] < 0.5F * kVoicingThreshold) continue;
    if (correlation[lag] <= correlation[lag - 1] || correlation[lag] < correlation[lag + 1]) continue;
    const Peak peak = Parabola(correlation, lag);
    const float log2_hz = std::log2(kProsodyRate / peak.lag);
    // Interpolated heights over 1 become their reciprocal, as in Praat.
    const float height = std::min(peak.height, 1 / peak.height);
    KeepBest(log2_hz, height - kOctaveCost * (std::log2(static_cast<float>(kMinPitchHz)) - log2_hz),
             &candidates);
  }
  return candidates;
}

// Writes the pitch of each frame along the best path, in Hz, 0 where unvoiced. `amplitude`: RMS per frame.
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

// Frames, level and tilt.

// Three periods of the lowest pitch, as Boersma.
constexpr int kFrameLength = static_cast<int>(3 * kProsodyRate / kMinPitchHz);
constexpr int kFftLength = 1080;
constexpr int kLags = 272;  // past the longest period, 266.7
constexpr double kHzPerBin = static_cast<double>(kProsodyRate) / kFftLength;
// One octave wide, so that each has a harmonic of any voice.
constexpr double kBandCentresHz[kTiltBands] = {500, 707.1, 1000, 1414.2, 2000};
constexpr double kBandOctaves[kTiltBands] = {-1, -0.5, 0, 0.5, 1};
constexpr double kSilenceDb = -100;

// Half cosine from 0 at `low` to 1 at `high`; falls if `low` is larger.
double Ramp(double low, double high, double hz) {
  const double place = std::clamp((hz - low) / (high - low), 0.0, 1.0);
  return 0.5 - 0.5 * std::cos(M_PI * place);
}

// Band pass: removes DC and hum below speech, and noise above 4 kHz.
std::vector<float> MakeGain() {
  std::vector<float> gain;
  for (int k = 0; k <= kFftLength / 2; ++k) {
    const double hz = k * kHzPerBin;
    gain.push_back(static_cast<float>(Ramp(20, 40, hz) * Ramp(4000, 3000, hz)));
  }
  return gain;
}

std::vector<float> MakeHann() {
  std::vector<float> window;
  for (int i = 0; i < kFrameLength; ++i) {
    window.push_back(static_cast<float>(0.5 - 0.5 * std::cos(2 * M_PI * (i + 0.5) / kFrameLength)));
  }
  return window;
}

// Reciprocal of the autocorrelation of the window, 1 at lag 0.
std::vector<float> InverseAutocorrelation(const std::vector<float>& window) {
  std::vector<float> inverse;
  double zero = 0;
  for (size_t lag = 0; lag < kLags; ++lag) {
    double sum = 0;
    for (size_t i = 0; i + lag < window.size(); ++i) sum += static_cast<double>(window[i]) * window[i + lag];
    if (lag == 0) zero = sum;
    inverse.push_back(static_cast<float>(zero / sum));
  }
  return inverse;
}

// Least-squares slope over the bands in dB per octave.
float Tilt(const float* bands) {
  double slope = 0;
  double square = 0;
  for (int band = 0; band < kTiltBands; ++band) {
    if (bands[band] <= 0) return 0;
    slope += kBandOctaves[band] * 10 * std::log10(static_cast<double>(bands[band]));
    square += kBandOctaves[band] * kBandOctaves[band];
  }
  return static_cast<float>(slope / square);
}

}  // namespace

struct ProsodyTracker::State {
  explicit State(Lanes lanes);
  ~State() { kernel->destroy(kernel_state); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ProsodyPlan Plan() const;
  void RunBlock(const float* samples, size_t count, size_t frame);

  const ProsodyKernel* kernel;
  std::vector<float> window;
  std::vector<float> gain;
  std::vector<float> inverse;  // [kLags]
  double window_power;
  std::vector<float> padded;  // the samples of a block at the edge of the recording
  std::vector<float> rows;    // [lanes x (kAutocorrelationColumn + kLags)]
  void* kernel_state;
};

ProsodyTracker::State::State(Lanes lanes)
    : kernel(&UNDERTONE_SELECT_WIDTH(lanes, kProsodyKernel)),
      window(MakeHann()),
      gain(MakeGain()),
      inverse(InverseAutocorrelation(window)),
      window_power(0),
      padded((kernel->lanes - 1) * kProsodyHop + kFrameLength),
      rows(kernel->lanes * (kAutocorrelationColumn + kLags)),
      kernel_state(kernel->create(Plan())) {
  if (kernel_state == nullptr) throw std::bad_alloc();
  for (const float weight : window) window_power += static_cast<double>(weight) * weight;
}

ProsodyPlan ProsodyTracker::State::Plan() const {
  ProsodyPlan plan = {};
  plan.win_length = kFrameLength;
  plan.hop_length = kProsodyHop;
  plan.n_fft = kFftLength;
  plan.lags = kLags;
  plan.window = window.data();
  plan.gain = gain.data();
  plan.gain_end = static_cast<int>(std::ceil(4000 / kHzPerBin));
  for (int band = 0; band < kTiltBands; ++band) {
    plan.band_first[band] = static_cast<int>(std::ceil(kBandCentresHz[band] / M_SQRT2 / kHzPerBin));
    plan.band_last[band] = static_cast<int>(std::floor(kBandCentresHz[band] * M_SQRT2 / kHzPerBin));
  }
  return plan;
}

// Computes the rows of a block of frames from `frame`. Samples outside the recording are 0.
void ProsodyTracker::State::RunBlock(const float* samples, size_t count, size_t frame) {
  const int64_t begin = static_cast<int64_t>(frame * kProsodyHop) - kFrameLength / 2;
  const int64_t end = begin + static_cast<int64_t>(padded.size());
  const float* source = padded.data();
  if (begin < 0 || end > static_cast<int64_t>(count)) {
    const int64_t from = std::max<int64_t>(begin, 0);
    const int64_t to = std::min<int64_t>(end, static_cast<int64_t>(count));
    std::fill(padded.begin(), padded.end(), 0.0F);
    std::copy(samples + from, samples + to, padded.begin() + (from - begin));
  } else {
    source = samples + begin;
  }
  kernel->run(kernel_state, source, rows.data());
}

ProsodyTracker::ProsodyTracker(Lanes lanes) : state_(new State(lanes)) {}
ProsodyTracker::~ProsodyTracker() = default;

void ProsodyTracker::Track(const float* samples, size_t count, float* pitch_hz, float* level_db,
                           float* tilt_db) {
  const size_t frames = Frames(count);
  std::vector<PitchCandidates> candidates(frames);
  std::vector<float> amplitude(frames);
  for (size_t frame = 0; frame < frames; ++frame) {
    const size_t lane = frame % state_->kernel->lanes;
    if (lane == 0) state_->RunBlock(samples, count, frame);
    float* row = state_->rows.data() + lane * (kAutocorrelationColumn + kLags);
    float* correlation = row + kAutocorrelationColumn;
    const double power = std::max(0.0, correlation[0] / state_->window_power);
    amplitude[frame] = static_cast<float>(std::sqrt(power));
    level_db[frame] = static_cast<float>(std::max(kSilenceDb, 10 * std::log10(power)));
    // Decoders leave samples so small that the reciprocal of their power overflows.
    const bool is_silent = !std::isnormal(correlation[0]) || power == 0;
    tilt_db[frame] = is_silent ? 0 : Tilt(row);
    const float scale = is_silent ? 0 : 1 / correlation[0];
    for (size_t lag = 0; lag < kLags; ++lag) correlation[lag] *= scale * state_->inverse[lag];
    candidates[frame] = FindPitchCandidates(correlation, kLags);
  }
  Viterbi(&candidates, amplitude, pitch_hz);
}

ProsodyTrack ProsodyTracker::operator()(const float* samples, size_t count) {
  const size_t frames = Frames(count);
  ProsodyTrack track = {std::vector<float>(frames), std::vector<float>(frames), std::vector<float>(frames)};
  Track(samples, count, track.pitch_hz.data(), track.level_db.data(), track.tilt_db.data());
  return track;
}

}  // namespace undertone
