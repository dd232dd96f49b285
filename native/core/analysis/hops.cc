#include "analysis/hops.h"

#include <algorithm>
#include <cmath>

namespace undertone {
namespace {

constexpr float kFullScale = 0.999f;  // of 16-bit samples, after resampling
constexpr size_t kSums = 4;           // computed side by side: an addition waits for the one before it in its sum

}  // namespace

void MeasureHops(const float* samples, size_t length, size_t count, float* power, float* clipped) {
  for (size_t first = 0; first < count; first += kSums) {
    const size_t hops = std::min(kSums, count - first);
    double energy[kSums] = {};
    int at_full_scale[kSums] = {};
    for (size_t i = 0; i < length; ++i) {
      for (size_t hop = 0; hop < hops; ++hop) {
        const float sample = samples[(first + hop) * length + i];
        energy[hop] += static_cast<double>(sample) * sample;
        at_full_scale[hop] += std::fabs(sample) >= kFullScale;
      }
    }
    for (size_t hop = 0; hop < hops; ++hop) {
      power[first + hop] = static_cast<float>(energy[hop] / static_cast<double>(length));
      clipped[first + hop] = static_cast<float>(at_full_scale[hop]);
    }
  }
}

size_t TemporalCentroid(const float* samples, size_t count) {
  double energy[kSums] = {};
  double moment[kSums] = {};
  const auto add = [&](size_t i, size_t sum) {
    const double power = static_cast<double>(samples[i]) * samples[i];
    energy[sum] += power;
    moment[sum] += static_cast<double>(i) * power;
  };
  size_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (size_t sum = 0; sum < kSums; ++sum) add(i + sum, sum);
  }
  for (; i < count; ++i) add(i, 0);
  const double total = energy[0] + energy[1] + energy[2] + energy[3];
  const double moments = moment[0] + moment[1] + moment[2] + moment[3];
  const double position = total > 0 ? moments / total : static_cast<double>(count) / 2;
  return static_cast<size_t>(std::floor(position + 0.5));
}

}  // namespace undertone
