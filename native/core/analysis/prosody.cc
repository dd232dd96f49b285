#include "analysis/prosody.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>

#include "analysis/pitch.h"
#include "analysis/prosody_kernel.h"

namespace undertone {
namespace {

// Three periods of the lowest pitch, as Boersma.
constexpr int kFrameLength = static_cast<int>(3 * kPitchRate / kMinPitchHz);
constexpr int kFftLength = 1080;
constexpr int kLags = 272;  // past the longest period, 266.7
constexpr double kHzPerBin = static_cast<double>(kPitchRate) / kFftLength;
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
