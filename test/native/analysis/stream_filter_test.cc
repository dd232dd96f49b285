#include "analysis/stream_filter.h"

#include <doctest/doctest.h>

#include <cmath>

#include "support/signal.h"

namespace undertone {
namespace {

constexpr int kRate = 16000;
constexpr size_t kHop = 160;

struct Filtered {
  std::vector<float> samples, power, clipped;

  bool operator==(const Filtered& other) const {
    return samples == other.samples && power == other.power && clipped == other.clipped;
  }
};

// In blocks of `length` samples.
Filtered Filter(const std::vector<float>& samples, size_t length, std::optional<double> highpass_hz) {
  const StreamFilter filter(kRate, kHop, highpass_hz);
  Filtered result{samples, {}, {}};
  StreamFilter::State state = {};
  for (size_t at = 0; at < samples.size(); at += length) {
    const size_t count = std::min(length, samples.size() - at);
    const size_t done = result.power.size();
    const size_t hops = filter.Hops(state, count);
    result.power.resize(done + hops);
    result.clipped.resize(done + hops);
    filter.Run(result.samples.data() + at, count, &state, result.power.data() + done,
               result.clipped.data() + done);
  }
  return result;
}

TEST_CASE("how a stream is cut changes no bit, with and without a high-pass") {
  const std::vector<float> samples = TestSignal(5, 4100);
  for (const std::optional<double> cutoff : {std::optional<double>(), std::optional<double>(64)}) {
    const Filtered whole = Filter(samples, samples.size(), cutoff);
    CHECK(whole.power.size() == 25);
    for (const size_t length : {1, 3, 159, 160, 161, 1000}) CHECK(Filter(samples, length, cutoff) == whole);
  }
}

TEST_CASE("rumble and offset are no power, and leave the samples with a high-pass alone") {
  const std::vector<float> noise = Noise(kRate, 0.01);
  std::vector<float> samples = test::Sine(30, kRate, noise.size(), 0.2);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] += noise[i] + 0.1F;
  const Filtered plain = Filter(noise, noise.size(), std::nullopt);
  const Filtered filtered = Filter(samples, samples.size(), 64);
  for (size_t hop = 20; hop < plain.power.size(); ++hop) {
    CHECK(filtered.power[hop] == doctest::Approx(plain.power[hop]).epsilon(0.2));
  }
  for (size_t i = 20 * kHop; i < samples.size(); ++i) CHECK(std::fabs(filtered.samples[i]) < 0.015);
}

// The largest difference of samples from `from` on.
float Apart(const std::vector<float>& one, const std::vector<float>& other, size_t from) {
  float apart = 0;
  for (size_t i = from; i < one.size(); ++i) apart = std::max(apart, std::fabs(one[i] - other[i]));
  return apart;
}

TEST_CASE("without a high-pass, an offset and slow drift are removed, and nothing else is changed") {
  std::vector<float> samples = Noise(8 * kRate, 0.001);
  const std::vector<float> loud = Noise(samples.size(), 0.1, 7);
  for (size_t i = kRate; i < samples.size(); ++i) {
    if (i / 4000 % 4 != 3) samples[i] += loud[i];  // with pauses
  }
  CHECK(Filter(samples, samples.size(), std::nullopt).samples == samples);
  for (const float offset : {0.005F, 0.07F, -0.3F}) {
    std::vector<float> shifted = samples;
    for (float& sample : shifted) sample += offset;
    CHECK(Apart(Filter(shifted, 1000, std::nullopt).samples, samples, kRate / 2) < 0.1F * std::fabs(offset) + 1e-3F);
  }
  std::vector<float> drifting = samples;
  for (size_t i = 0; i < drifting.size(); ++i) {
    drifting[i] += static_cast<float>(0.1 * std::sin(2 * M_PI * 0.05 * static_cast<double>(i) / kRate));
  }
  CHECK(Apart(Filter(drifting, 1000, std::nullopt).samples, samples, kRate / 2) < 0.03F);
}

TEST_CASE("samples at full scale are counted before they are filtered") {
  std::vector<float> samples(4 * kHop, 0.1F);
  for (size_t i = kHop + 3; i < kHop + 7; ++i) samples[i] = i % 2 == 0 ? 1.0F : -0.9995F;
  samples[3 * kHop] = 0.998F;
  for (const std::optional<double> cutoff : {std::optional<double>(), std::optional<double>(64)}) {
    CHECK(Filter(samples, 100, cutoff).clipped == std::vector<float>{0, 4, 0, 0});
  }
}

}  // namespace
}  // namespace undertone
