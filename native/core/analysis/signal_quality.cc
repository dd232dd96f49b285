#include "analysis/signal_quality.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "dsp/features.h"
#include "error.h"

namespace undertone {
namespace {

constexpr double kSilenceDb = -100;
constexpr double kShortestSeconds = 0.1;
constexpr double kHighestSnrDb = 60;
constexpr double kGuardSeconds = 0.1;  // next to speech: its onsets and tails are no noise
constexpr double kEnoughNoiseSeconds = 0.3;
constexpr double kPowerFrameSeconds = 0.02;
constexpr double kQuietShare = 0.1;        // of a recording's frames: what the noise is read from
constexpr double kQuietBias = 1.07;        // mean power of steady noise over that of its quieter frames
constexpr double kDigitalSilence = 1e-10;  // mean power; below it nothing was recorded
constexpr double kBandwidthDb = 60;
constexpr size_t kFrame = 512;        // samples of one spectrum
constexpr size_t kMostSpectra = 400;  // evenly picked from the speech
constexpr int kBands = 128;           // equally wide on the mel scale: 170 Hz at 8 kHz
constexpr double kSilentDensity = 1e-12;

struct Range {
  size_t start;
  size_t end;
};

// Sorted, disjoint, inside the recording.
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

double Energy(const float* samples, size_t count) {
  constexpr size_t kLanes = 8;
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

struct Loudness {
  double energy = 0;
  double count = 0;  // samples

  double Power() const { return count == 0 ? 0 : energy / count; }
};

Loudness Measure(const float* samples, const std::vector<Range>& ranges) {
  Loudness loudness;
  for (const Range& range : ranges) {
    loudness.energy += Energy(samples + range.start, range.end - range.start);
    loudness.count += static_cast<double>(range.end - range.start);
  }
  return loudness;
}

// What the ranges leave of the recording, `guard` samples away from them.
std::vector<Range> Between(const std::vector<Range>& ranges, size_t count, size_t guard) {
  std::vector<Range> between;
  const auto add = [&](size_t start, size_t end) {
    if (end > start) between.push_back({start, end});
  };
  size_t at = 0;
  for (const Range& range : ranges) {
    add(at, range.start - std::min(range.start, guard));
    at = range.end + guard;
  }
  add(at, count);
  return between;
}

// Mean power of each whole frame inside the ranges that holds any sound.
std::vector<double> FramePowers(const float* samples, const std::vector<Range>& ranges, size_t frame) {
  std::vector<double> powers;
  for (const Range& range : ranges) {
    for (size_t at = range.start; at + frame <= range.end; at += frame) {
      const double power = Energy(samples + at, frame) / static_cast<double>(frame);
      if (power > kDigitalSilence) powers.push_back(power);
    }
  }
  return powers;
}

// Mean power between the speech where that lasts long enough, else of the quietest tenth of all frames.
double NoisePower(const float* samples, const std::vector<Range>& speech, size_t count, int rate) {
  const auto frame = static_cast<size_t>(kPowerFrameSeconds * rate);
  const auto guard = static_cast<size_t>(kGuardSeconds * rate);
  const std::vector<double> between = FramePowers(samples, Between(speech, count, guard), frame);
  if (static_cast<double>(between.size() * frame) >= kEnoughNoiseSeconds * rate) {
    return std::accumulate(between.begin(), between.end(), 0.0) / static_cast<double>(between.size());
  }
  std::vector<double> all = FramePowers(samples, {{0, count}}, frame);
  if (all.empty()) return 0;
  const auto quiet = static_cast<size_t>(kQuietShare * static_cast<double>(all.size()));
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(quiet), all.end());
  return kQuietBias * all[quiet];
}

double ToDb(double power) { return power > 0 ? std::max(10 * std::log10(power), kSilenceDb) : kSilenceDb; }

// Speech power without the noise's share, over the noise.
double SnrDb(double speech_power, double noise_power) {
  if (noise_power <= 0) return speech_power > 0 ? kHighestSnrDb : 0;
  return std::clamp(10 * std::log10(std::max(speech_power / noise_power - 1, 1e-12)), 0.0, kHighestSnrDb);
}

// Mean density in triangles that touch: Hann, power, HTK mel scale, unit area (Slaney's norm).
FeatureSpec SpectrumSpec(int rate) {
  FeatureSpec spec{};
  spec.sample_rate = rate;
  spec.frame_length = spec.hop = spec.fft_length = static_cast<int>(kFrame);
  spec.padding = Padding::kNone;
  spec.window = Window::kHann;
  spec.window_periodic = true;
  spec.spectrum = Spectrum::kPower;
  spec.bins = kBands;
  spec.high_hz = rate / 2.0;
  spec.mel_scale = MelScale::kHtk;
  spec.mel_norm = MelNorm::kSlaney;
  spec.mel_triangles = MelTriangles::kHz;
  spec.log_base = LogBase::kE;
  spec.log_floor = 1e-30;
  spec.scale = 1;
  spec.energy = Energy::kNone;
  return spec;
}

// Centre of a band in Hz; the edges of kBands triangles are kBands + 2 equal steps on the mel scale.
double BandHz(int band, int rate) {
  const double top = 2595 * std::log10(1 + rate / 2.0 / 700);
  return 700 * (std::pow(10, top * (band + 1) / (kBands + 1) / 2595) - 1);
}

// Whole frames out of the speech, one after the other: all of them, or kMostSpectra evenly spread.
std::vector<float> PickFrames(const float* samples, const std::vector<Range>& speech) {
  size_t total = 0;
  for (const Range& range : speech) total += (range.end - range.start) / kFrame;
  const size_t picked = std::min(total, kMostSpectra);
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

std::vector<double> MeanDensity(const std::vector<float>& frames, int rate) {
  thread_local std::optional<Extractor> extractor;
  thread_local int extractor_rate = 0;
  if (extractor_rate != rate) {
    // Not in place: a rate that is refused leaves the last one whole.
    extractor = Extractor(SpectrumSpec(rate));
    extractor_rate = rate;
  }
  const Features features = (*extractor)(frames.data(), frames.size());
  std::vector<double> density(kBands);
  for (size_t i = 0; i < features.data.size(); ++i) density[i % kBands] += std::exp(features.data[i]);
  return density;
}

double BandwidthHz(const float* samples, int rate, const std::vector<Range>& speech) {
  const std::vector<float> frames = PickFrames(samples, speech);
  if (frames.empty()) return 0;
  const std::vector<double> density = MeanDensity(frames, rate);
  const double peak = *std::max_element(density.begin(), density.end());
  if (peak < kSilentDensity) return 0;
  const double threshold = peak * std::pow(10, -kBandwidthDb / 10);
  int band = kBands - 1;
  while (band > 0 && density[static_cast<size_t>(band)] < threshold) --band;
  return BandHz(band, rate);
}

}  // namespace

Quality MeasureQuality(const float* samples, size_t count, int rate, const std::vector<Segment>& speech) {
  if (rate < 1000) throw Error(ErrorCode::kBadArgument, "Expected at least 1000 for `sampleRate`, got less");
  const std::vector<Range> ranges = ToRanges(speech, count, rate);
  const Loudness inside = Measure(samples, ranges);
  const bool enough = inside.count >= kShortestSeconds * rate;
  return {ToDb(inside.Power()),
          enough ? SnrDb(inside.Power(), NoisePower(samples, ranges, count, rate))
                 : std::numeric_limits<double>::quiet_NaN(),
          BandwidthHz(samples, rate, ranges)};
}

}  // namespace undertone
