#include "analysis/signal_measures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "analysis/stream_filter.h"
#include "dsp/features.h"
#include "dsp/highpass.h"
#include "error.h"

namespace undertone {
namespace {

// Sums that are computed side by side: an addition waits for the one before it in its sum.
constexpr size_t kLanes = 8;

constexpr double kSilenceDb = -100;
constexpr double kMinSpeechSeconds = 0.1;
constexpr double kMaxSnrDb = 60;
constexpr double kCollarSeconds = 0.1;  // next to speech, excluded from noise: onsets and tails
constexpr double kMinNoiseSeconds = 0.3;
constexpr double kPowerFrameSeconds = 0.02;
constexpr double kNoiseQuantile = 0.1;     // of the frame powers, taken as noise
constexpr double kQuietBias = 1.07;        // mean power of steady noise over its quantile
constexpr double kDigitalSilence = 1e-10;  // mean power
constexpr double kBandwidthDb = 60;
constexpr size_t kFrame = 512;            // samples per spectrum
constexpr size_t kMaxSpectra = 400;       // evenly spread over the speech
constexpr int kBands = 128;               // equally wide on the mel scale; 170 Hz at 8 kHz
constexpr double kSilentDensity = 1e-12;  // sum over the spectra

struct Range {
  size_t start;
  size_t end;
};

// Sorted, disjoint and inside the recording.
std::vector<Range> ToRanges(const std::vector<Segment>& segments, size_t count, int rate) {
  std::vector<Range> ranges;
  const auto clamp = [&](double seconds) {
    const double at = std::isfinite(seconds) ? std::round(seconds * rate) : 0;
    return static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(count)));
  };
  for (const Segment& segment : segments) {
    const Range range{clamp(segment.start_s), clamp(segment.end_s)};
    if (range.end > range.start) ranges.push_back(range);
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.start < b.start; });
  std::vector<Range> merged;
  for (const Range& range : ranges) {
    if (!merged.empty() && range.start <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

double SumOfSquares(const float* samples, size_t count) {
  double lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += static_cast<double>(samples[i + lane]) * samples[i + lane];
    }
  }
  double sum = 0;
  for (; i < count; ++i) sum += static_cast<double>(samples[i]) * samples[i];
  for (const double lane : lanes) sum += lane;
  return sum;
}

struct PowerSum {
  double sum = 0;    // of squares
  double count = 0;  // samples

  double Mean() const { return count == 0 ? 0 : sum / count; }
};

PowerSum MeasurePower(const float* samples, const std::vector<Range>& ranges) {
  PowerSum power;
  for (const Range& range : ranges) {
    power.sum += SumOfSquares(samples + range.start, range.end - range.start);
    power.count += static_cast<double>(range.end - range.start);
  }
  return power;
}

// The parts of the recording at least `collar` samples away from the ranges.
std::vector<Range> Complement(const std::vector<Range>& ranges, size_t count, size_t collar) {
  std::vector<Range> between;
  const auto add = [&](size_t start, size_t end) {
    if (end > start) between.push_back({start, end});
  };
  size_t at = 0;
  for (const Range& range : ranges) {
    add(at, range.start - std::min(range.start, collar));
    at = range.end + collar;
  }
  add(at, count);
  return between;
}

// Mean power of each whole frame inside the ranges, without digital silence.
std::vector<double> FramePowers(const float* samples, const std::vector<Range>& ranges, size_t frame) {
  std::vector<double> powers;
  for (const Range& range : ranges) {
    for (size_t at = range.start; at + frame <= range.end; at += frame) {
      const double power = SumOfSquares(samples + at, frame) / static_cast<double>(frame);
      if (power > kDigitalSilence) powers.push_back(power);
    }
  }
  return powers;
}

// The value below which `quantile` of the powers are; 0 without any.
double Quantile(std::vector<double> powers, double quantile) {
  if (powers.empty()) return 0;
  const auto index = static_cast<std::ptrdiff_t>(quantile * static_cast<double>(powers.size()));
  std::nth_element(powers.begin(), powers.begin() + index, powers.end());
  return powers[static_cast<size_t>(index)];
}

// Median power of the pauses, which speech that was not detected hardly changes, or a low quantile of the power of
// all frames if the pauses are too short.
double NoisePower(const float* samples, const std::vector<Range>& speech, size_t count, int rate) {
  const auto frame = static_cast<size_t>(kPowerFrameSeconds * rate);
  const auto collar = static_cast<size_t>(kCollarSeconds * rate);
  const std::vector<double> gaps = FramePowers(samples, Complement(speech, count, collar), frame);
  if (static_cast<double>(gaps.size() * frame) >= kMinNoiseSeconds * rate) {
    return Quantile(gaps, 0.5);
  }
  return kQuietBias * Quantile(FramePowers(samples, {{0, count}}, frame), kNoiseQuantile);
}

std::vector<float> WithoutRumble(const float* samples, size_t count, int rate) {
  std::vector<float> filtered(count);
  Highpass::State state = {};
  Highpass(rate, kPowerHighpassHz).Run(samples, count, &state, [&](size_t i, double value) {
    filtered[i] = static_cast<float>(value);
  });
  return filtered;
}

double ToDb(double power) { return power > 0 ? std::max(10 * std::log10(power), kSilenceDb) : kSilenceDb; }

// (speech - noise) / noise in dB. `speech_power` includes the noise.
double SnrDb(double speech_power, double noise_power) {
  if (noise_power <= 0) return speech_power > 0 ? kMaxSnrDb : 0;
  return std::clamp(10 * std::log10(std::max(speech_power / noise_power - 1, 1e-12)), 0.0, kMaxSnrDb);
}

// Mean power density in mel bands: Hann window, HTK mel scale, triangles of unit area.
FeatureSpec SpectrumSpec(int rate) {
  FeatureSpec spec{};
  spec.sample_rate = rate;
  spec.win_length = spec.hop_length = spec.n_fft = static_cast<int>(kFrame);
  spec.padding = Padding::kNone;
  spec.window = Window::kHann;
  spec.window_periodic = true;
  spec.spectrum = Spectrum::kPower;
  spec.n_mels = kBands;
  spec.high_hz = rate / 2.0;
  spec.mel_scale = MelScale::kHtk;
  spec.mel_norm = MelNorm::kSlaney;
  spec.mel_triangles = MelTriangles::kHz;
  spec.log_base = LogBase::kNone;
  spec.log_floor = 1e-30;
  spec.scale = 1;
  spec.energy = Energy::kNone;
  return spec;
}

// Centre of a band; the edges are equal steps on the mel scale.
double BandHz(int band, int rate) {
  const double top = 2595 * std::log10(1 + rate / 2.0 / 700);
  return 700 * (std::pow(10, top * (band + 1) / (kBands + 1) / 2595) - 1);
}

// Concatenates whole frames of the speech: all, or kMaxSpectra evenly spread.
std::vector<float> PickFrames(const float* samples, const std::vector<Range>& speech) {
  size_t total = 0;
  for (const Range& range : speech) total += (range.end - range.start) / kFrame;
  const size_t picked = std::min(total, kMaxSpectra);
  std::vector<float> frames;
  frames.reserve(picked * kFrame);
  size_t index = 0;
  size_t next = 0;
  for (const Range& range : speech) {
    for (size_t at = range.start; at + kFrame <= range.end; at += kFrame, ++index) {
      if (index != next * total / picked) continue;
      frames.insert(frames.end(), samples + at, samples + at + kFrame);
      ++next;
    }
  }
  return frames;
}

std::vector<double> SumDensity(const std::vector<float>& frames, int rate) {
  thread_local std::optional<Extractor> extractor;
  thread_local int extractor_rate = 0;
  if (extractor_rate != rate) {
    // Constructed before assignment: a rate that throws keeps the previous extractor.
    extractor = Extractor(SpectrumSpec(rate));
    extractor_rate = rate;
  }
  const Features features = (*extractor)(frames.data(), frames.size());
  std::vector<double> density(kBands);
  for (size_t i = 0; i < features.data.size(); ++i) density[i % kBands] += features.data[i];
  return density;
}

double BandwidthHz(const float* samples, int rate, const std::vector<Range>& speech) {
  const std::vector<float> frames = PickFrames(samples, speech);
  if (frames.empty()) return 0;
  const std::vector<double> density = SumDensity(frames, rate);
  const double peak = *std::max_element(density.begin(), density.end());
  if (peak < kSilentDensity) return 0;
  const double threshold = peak * std::pow(10, -kBandwidthDb / 10);
  int band = kBands - 1;
  while (band > 0 && density[static_cast<size_t>(band)] < threshold) --band;
  return BandHz(band, rate);
}

}  // namespace

size_t TemporalCentroid(const float* samples, size_t count) {
  double energy[kLanes] = {};
  double moment[kLanes] = {};
  double position[kLanes];
  std::iota(position, position + kLanes, 0.0);
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double power = static_cast<double>(samples[i + lane]) * samples[i + lane];
      energy[lane] += power;
      moment[lane] += position[lane] * power;
      position[lane] += kLanes;
    }
  }
  for (; i < count; ++i) {
    const double power = static_cast<double>(samples[i]) * samples[i];
    energy[0] += power;
    moment[0] += static_cast<double>(i) * power;
  }
  const double total = std::accumulate(energy, energy + kLanes, 0.0);
  const double moments = std::accumulate(moment, moment + kLanes, 0.0);
  const double centre = total > 0 ? moments / total : static_cast<double>(count) / 2;
  return static_cast<size_t>(std::floor(centre + 0.5));
}

SignalQuality MeasureSignalQuality(const float* samples, size_t count, int rate,
                                   const std::vector<Segment>& speech) {
  if (rate < 1000) ThrowOutOfRange("at least 1000", "sampleRate", rate);
  const std::vector<float> filtered = WithoutRumble(samples, count, rate);
  samples = filtered.data();
  const std::vector<Range> ranges = ToRanges(speech, count, rate);
  const PowerSum inside = MeasurePower(samples, ranges);
  const bool enough = inside.count >= kMinSpeechSeconds * rate;
  return {ToDb(inside.Mean()),
          enough ? SnrDb(inside.Mean(), NoisePower(samples, ranges, count, rate))
                 : std::numeric_limits<double>::quiet_NaN(),
          BandwidthHz(samples, rate, ranges)};
}

}  // namespace undertone
