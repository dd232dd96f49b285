#include "decode/channel_stats.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace undertone {
namespace {

constexpr float kClippingLevel = 0.999F;
constexpr size_t kMinClippedRun = 3;
constexpr double kSilentVariance = 1e-10;  // -100 dB re full scale
constexpr size_t kLanes = 16;

int32_t Bits(float sample) {
  int32_t bits;
  std::memcpy(&bits, &sample, sizeof bits);
  return bits;
}

}  // namespace

// Magnitudes of floats compare like their bits, with NaN above all others.
float Peak(const float* samples, size_t count) {
  int32_t peaks[kLanes] = {};
  const auto magnitude = [samples](size_t i) { return Bits(samples[i]) & 0x7FFFFFFF; };
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) peaks[lane] = std::max(peaks[lane], magnitude(i + lane));
  }
  for (; i < count; ++i) peaks[0] = std::max(peaks[0], magnitude(i));
  const int32_t bits = *std::max_element(peaks, peaks + kLanes);
  float peak;
  std::memcpy(&peak, &bits, sizeof peak);
  return peak;
}

void Clipping::Reset(int channels, float full_scale) {
  threshold_ = kClippingLevel * full_scale;
  runs_.assign(static_cast<size_t>(channels), 0);
}

void Clipping::Add(int channel, const float* samples, size_t count, float peak) {
  total_ += count;
  size_t& run = runs_[static_cast<size_t>(channel)];
  if (run == 0 && peak < threshold_) return;
  for (size_t i = 0; i < count; ++i) {
    if (std::fabs(samples[i]) < threshold_) {
      run = 0;
    } else if (++run >= kMinClippedRun) {
      clipped_ += run == kMinClippedRun ? kMinClippedRun : 1;
    }
  }
}

void Correlation::Reset(int channels) {
  lowest_before_ = Lowest();
  sums_.assign(static_cast<size_t>(channels > 0 ? channels - 1 : 0), Sums{});
  count_ = 0;
}

void Correlation::Add(const float* const* planes, size_t count) {
  count_ += static_cast<double>(count);
  for (size_t channel = 0; channel < sums_.size(); ++channel) {
    const float* x = planes[0];
    const float* y = planes[channel + 1];
    std::array<float, kLanes> sx{}, sy{}, sxx{}, syy{}, sxy{};
    size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const float a = x[i + lane];
        const float b = y[i + lane];
        sx[lane] += a;
        sy[lane] += b;
        sxx[lane] += a * a;
        syy[lane] += b * b;
        sxy[lane] += a * b;
      }
    }
    Sums& sums = sums_[channel];
    for (size_t lane = 0; lane < kLanes; ++lane) {
      sums.x += sx[lane];
      sums.y += sy[lane];
      sums.xx += sxx[lane];
      sums.yy += syy[lane];
      sums.xy += sxy[lane];
    }
    for (; i < count; ++i) {
      const double a = x[i];
      const double b = y[i];
      sums.x += a;
      sums.y += b;
      sums.xx += a * a;
      sums.yy += b * b;
      sums.xy += a * b;
    }
  }
}

double Correlation::Current() const {
  double lowest = 1;
  for (const Sums& sums : sums_) {
    const double mean_x = sums.x / count_;
    const double mean_y = sums.y / count_;
    const double variance_x = sums.xx / count_ - mean_x * mean_x;
    const double variance_y = sums.yy / count_ - mean_y * mean_y;
    if (!(variance_x > kSilentVariance && variance_y > kSilentVariance)) continue;
    const double covariance = sums.xy / count_ - mean_x * mean_y;
    lowest = std::min(lowest, std::clamp(covariance / std::sqrt(variance_x * variance_y), -1.0, 1.0));
  }
  return lowest;
}

double Correlation::Lowest() const {
  return count_ > 0 ? std::min(lowest_before_, Current()) : lowest_before_;
}

// Compares bits: the compiler vectorizes these, but not comparisons of floats.
void SanitizeSamples(float* samples, size_t count) {
  const int32_t smallest = Bits(1e-15F);
  const int32_t largest = Bits(kMaxMagnitude);
  for (size_t i = 0; i < count; ++i) {
    const int32_t bits = Bits(samples[i]);
    const int32_t magnitude = bits & 0x7FFFFFFF;
    const auto valid = static_cast<int32_t>((magnitude >= smallest) & (magnitude <= largest));
    const int32_t kept = bits & -valid;
    std::memcpy(samples + i, &kept, sizeof kept);
  }
}

}  // namespace undertone
