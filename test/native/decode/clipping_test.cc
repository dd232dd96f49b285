#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "decode/samples.h"
#include "support/signal.h"

namespace undertone {
namespace {

constexpr int kRate = 16000;

double ClippedRatio(const std::vector<float>& samples) {
  Clipping clipping;
  clipping.Reset(1, 1);
  constexpr size_t kBlock = 1000;
  for (size_t at = 0; at < samples.size(); at += kBlock) {
    const size_t count = std::min(kBlock, samples.size() - at);
    clipping.Add(0, samples.data() + at, count, Peak(samples.data() + at, count));
  }
  return clipping.Ratio();
}

// A vowel of 110 Hz under a slow envelope, limited to [low, high].
std::vector<float> Voice(double gain, float low, float high) {
  std::vector<float> samples(4 * kRate);
  for (size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / kRate;
    double value = 0;
    for (int harmonic = 1; harmonic <= 20; ++harmonic) {
      value += std::cos(2 * M_PI * 110 * harmonic * t + harmonic) / harmonic;
    }
    const double envelope = 0.6 + 0.4 * std::sin(2 * M_PI * 1.7 * t);
    samples[i] = std::clamp(static_cast<float>(gain * envelope * value), low, high);
  }
  return samples;
}

TEST_CASE("limits of both signs below full scale are clipping, with an offset too") {
  CHECK(ClippedRatio(Voice(0.5, -0.4F, 0.4F)) > 0.01);
  CHECK(ClippedRatio(Voice(0.5, -0.33F, 0.47F)) > 0.01);
  CHECK(ClippedRatio(Voice(0.5, -9, 0.4F)) > 0.005);
}

TEST_CASE("peaks that nothing limits are not clipping") {
  CHECK(ClippedRatio(Voice(0.2, -9, 9)) < 0.001);
  CHECK(ClippedRatio(Noise(4 * kRate, 0.3)) == 0);
  CHECK(ClippedRatio(std::vector<float>(kRate, 0.0F)) == 0);
  // Few values, as of 8 bits at a low level.
  std::vector<float> coarse = Noise(4 * kRate, 0.3);
  for (float& sample : coarse) sample = std::round(sample * 8) / 256;
  CHECK(ClippedRatio(coarse) == 0);
}

}  // namespace
}  // namespace undertone
