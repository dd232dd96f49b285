#include "dsp/feature_spec.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "error.h"

namespace undertone {
namespace {

bool IsSmooth(int n) {
  for (int factor : {2, 3, 5}) {
    while (n % factor == 0) n /= factor;
  }
  return n == 1;
}

void CheckFrames(const FeatureSpec& spec) {
  CheckRange(spec.sample_rate, 1000, 384000, "sampleRate");
  if (spec.highpass_hz) CheckRange(*spec.highpass_hz, 10, 200, "highpassHz");
  CheckRange(spec.win_length, 2, 32768, "winLength");
  CheckRange(spec.hop_length, 1, 32768, "hopLength");
  CheckRange(spec.preemphasis, 0, 1, "preemphasis");
  CheckRange(spec.n_fft, spec.win_length, 32768, "nFft");
  if (spec.n_fft % 2 != 0 || !IsSmooth(spec.n_fft)) {
    ThrowOutOfRange("an even product of 2, 3 and 5", "nFft", spec.n_fft);
  }
}

void CheckMel(const FeatureSpec& spec) {
  const double nyquist = spec.sample_rate / 2.0;
  CheckRange(spec.n_mels, 1, 1024, "nMels");
  CheckRange(spec.low_hz, 0, nyquist, "lowHz");
  CheckRange(spec.high_hz, 0, nyquist, "highHz");
  // Narrower triangles have edges that are equal numbers.
  if (spec.high_hz < spec.low_hz + 1) ThrowOutOfRange("at least 1 more than `lowHz`", "highHz", spec.high_hz);
  // The logarithm's polynomial needs normal floats.
  CheckRange(spec.log_floor, 1e-37, 1, "logFloor");
  if (spec.top_db) CheckRange(*spec.top_db, 1e-5, 1e7, "topDb");
  CheckRange(spec.offset, -1e6, 1e6, "offset");
  CheckRange(spec.scale, -1e6, 1e6, "scale");
}

void CheckCepstrum(const FeatureSpec& spec) {
  // The sine of a quotient by almost 0 is not a number.
  if (spec.lifter != 0 && !(spec.lifter >= 1 && spec.lifter <= 1000)) {
    ThrowOutOfRange("0 or a number from 1 to 1000", "lifter", spec.lifter);
  }
  if (spec.n_mfcc) {
    CheckRange(*spec.n_mfcc, 1, spec.n_mels, "nMfcc");
  } else if (spec.lifter != 0) {
    ThrowOutOfRange("0 without `nMfcc`", "lifter", spec.lifter);
  }
  if (spec.energy != Energy::kLog) return;
  if (!spec.n_mfcc) {
    throw Error(ErrorCode::kBadArgument, "Expected \"none\" without `nMfcc` for `energy`, got \"log\"");
  }
  if (spec.top_db) ThrowOutOfRange("null with `energy`", "topDb", *spec.top_db);
}

double WindowAt(Window window, double phase) {
  switch (window) {
    case Window::kHann:
      return 0.5 - 0.5 * std::cos(phase);
    case Window::kHamming:
      return 0.54 - 0.46 * std::cos(phase);
    case Window::kPovey:  // Kaldi: Hann to the power of 0.85
      return std::pow(0.5 - 0.5 * std::cos(phase), 0.85);
  }
  return 1.0;
}

// Slaney's Auditory Toolbox: linear below 1 kHz, 27 steps per factor of 6.4 above.
constexpr double kSlaneyHzPerMel = 200.0 / 3.0;
constexpr double kSlaneyBreakHz = 1000.0;
constexpr double kSlaneyBreakMel = kSlaneyBreakHz / kSlaneyHzPerMel;

double SlaneyLogStep() { return std::log(6.4) / 27.0; }

// HTK: 2595 log10(1 + f / 700), written with the natural logarithm as in Kaldi.
double HzToMel(double hz, MelScale scale) {
  if (scale == MelScale::kHtk) return 2595.0 / std::log(10.0) * std::log1p(hz / 700.0);
  if (hz < kSlaneyBreakHz) return hz / kSlaneyHzPerMel;
  return kSlaneyBreakMel + std::log(hz / kSlaneyBreakHz) / SlaneyLogStep();
}

double MelToHz(double mel, MelScale scale) {
  if (scale == MelScale::kHtk) return 700.0 * std::expm1(mel * std::log(10.0) / 2595.0);
  if (mel < kSlaneyBreakMel) return mel * kSlaneyHzPerMel;
  return kSlaneyBreakHz * std::exp((mel - kSlaneyBreakMel) * SlaneyLogStep());
}

// Triangle over left < centre < right, 0 outside.
double Triangle(double x, double left, double centre, double right) {
  return std::max(0.0, std::min((x - left) / (centre - left), (right - x) / (right - centre)));
}

std::vector<double> MelEdges(const FeatureSpec& spec) {
  const double low = HzToMel(spec.low_hz, spec.mel_scale);
  const double high = HzToMel(spec.high_hz, spec.mel_scale);
  std::vector<double> edges(static_cast<size_t>(spec.n_mels) + 2);
  for (size_t i = 0; i < edges.size(); ++i) {
    edges[i] = low + (high - low) * static_cast<double>(i) / (spec.n_mels + 1);
  }
  return edges;
}

double Lifter(double q, int row) { return q > 0.0 ? 1.0 + 0.5 * q * std::sin(M_PI * row / q) : 1.0; }

}  // namespace

bool operator==(const FeatureSpec& a, const FeatureSpec& b) {
  const auto members = [](const FeatureSpec& s) {
    return std::tie(s.sample_rate, s.highpass_hz, s.win_length, s.hop_length, s.padding, s.drop_last, s.remove_dc,
                    s.preemphasis, s.window, s.window_periodic, s.n_fft, s.spectrum, s.n_mels, s.low_hz,
                    s.high_hz, s.mel_scale, s.mel_norm, s.mel_triangles, s.log_base, s.log_floor, s.top_db,
                    s.offset, s.scale, s.n_mfcc, s.lifter, s.energy);
  };
  return members(a) == members(b);
}

void CheckFeatureSpec(const FeatureSpec& spec) {
  CheckFrames(spec);
  CheckMel(spec);
  CheckCepstrum(spec);
}

size_t FrameCount(const FeatureSpec& spec, size_t n) {
  const size_t hop = static_cast<size_t>(spec.hop_length);
  const size_t length = static_cast<size_t>(spec.win_length);
  size_t frames = 0;
  if (n == 0) return 0;
  switch (spec.padding) {
    case Padding::kNone:
      frames = n < length ? 0 : 1 + (n - length) / hop;
      break;
    case Padding::kReflectCenter:
      frames = 1 + n / hop;
      break;
    case Padding::kSnipEdgesFalse:
      frames = (n + hop / 2) / hop;
      break;
  }
  return spec.drop_last && frames > 0 ? frames - 1 : frames;
}

int64_t FrameStart(const FeatureSpec& spec, size_t frame) {
  const int64_t start = static_cast<int64_t>(frame) * spec.hop_length;
  switch (spec.padding) {
    case Padding::kNone:
      return start;
    case Padding::kReflectCenter:
      return start - spec.win_length / 2;
    case Padding::kSnipEdgesFalse:
      return start + spec.hop_length / 2 - spec.win_length / 2;
  }
  return start;
}

std::vector<float> MakeWindow(const FeatureSpec& spec) {
  const int divisor = spec.window_periodic ? spec.win_length : spec.win_length - 1;
  std::vector<float> window;
  for (int i = 0; i < spec.win_length; ++i) {
    window.push_back(static_cast<float>(WindowAt(spec.window, 2.0 * M_PI * i / divisor)));
  }
  return window;
}

MelFilters MakeMelFilters(const FeatureSpec& spec) {
  const std::vector<double> mel_edges = MelEdges(spec);
  const bool on_mel = spec.mel_triangles == MelTriangles::kMel;
  const int spectrum_bins = spec.n_fft / 2 + 1;
  MelFilters filters;
  for (size_t m = 0; m < static_cast<size_t>(spec.n_mels); ++m) {
    double edge[3];
    for (size_t i = 0; i < 3; ++i) {
      edge[i] = on_mel ? mel_edges[m + i] : MelToHz(mel_edges[m + i], spec.mel_scale);
    }
    const double norm = spec.mel_norm == MelNorm::kSlaney ? 2.0 / (edge[2] - edge[0]) : 1.0;
    int first = 0;
    int count = 0;
    for (int k = 0; k < spectrum_bins; ++k) {
      const double hz = static_cast<double>(k) * spec.sample_rate / spec.n_fft;
      const double x = on_mel ? HzToMel(hz, spec.mel_scale) : hz;
      const double weight = norm * Triangle(x, edge[0], edge[1], edge[2]);
      if (weight <= 0.0) continue;
      if (count++ == 0) first = k;
      filters.weights.push_back(static_cast<float>(weight));
    }
    filters.first.push_back(first);
    filters.count.push_back(count);
  }
  return filters;
}

std::vector<float> MakeDctMatrix(const FeatureSpec& spec) {
  std::vector<float> rows;
  const int n_mels = spec.n_mels;
  for (int row = 0; row < spec.n_mfcc.value_or(0); ++row) {
    const double gain = std::sqrt((row == 0 ? 1.0 : 2.0) / n_mels) * Lifter(spec.lifter, row);
    for (int bin = 0; bin < n_mels; ++bin) {
      rows.push_back(static_cast<float>(gain * std::cos(M_PI / n_mels * (bin + 0.5) * row)));
    }
  }
  return rows;
}

}  // namespace undertone
