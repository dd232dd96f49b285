#include "analysis/hops.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace undertone {
namespace {

std::vector<float> Samples(size_t count) {
  std::vector<float> samples(count);
  for (size_t i = 0; i < count; ++i) samples[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i * i % 997)));
  return samples;
}

TEST_CASE("power and clipping of each hop are those of a plain loop") {
  constexpr size_t kLength = 160;
  for (const size_t count : {0, 1, 3, 4, 7}) {
    const std::vector<float> samples = Samples(count * kLength);
    std::vector<float> power(count);
    std::vector<float> clipped(count);
    MeasureHops(samples.data(), kLength, count, power.data(), clipped.data());
    for (size_t hop = 0; hop < count; ++hop) {
      double energy = 0;
      int at_full_scale = 0;
      for (size_t i = hop * kLength; i < (hop + 1) * kLength; ++i) {
        energy += static_cast<double>(samples[i]) * samples[i];
        at_full_scale += std::fabs(samples[i]) >= 0.999f;
      }
      CHECK(power[hop] == static_cast<float>(energy / kLength));
      CHECK(clipped[hop] == static_cast<float>(at_full_scale));
    }
  }
}

TEST_CASE("the temporal centroid is the mean position weighted by energy") {
  std::vector<float> samples(1001);
  CHECK(TemporalCentroid(samples.data(), 0) == 0);
  CHECK(TemporalCentroid(samples.data(), samples.size()) == 501);
  samples[100] = 1;
  CHECK(TemporalCentroid(samples.data(), samples.size()) == 100);
  samples[1000] = -1;
  CHECK(TemporalCentroid(samples.data(), samples.size()) == 550);
  samples[1000] = 0.5f;
  CHECK(TemporalCentroid(samples.data(), samples.size()) == 280);
}

}  // namespace
}  // namespace undertone
