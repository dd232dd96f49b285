#include "dsp/highpass.h"

#include <doctest/doctest.h>

#include <cmath>

#include "support/oracles.h"
#include "support/signal.h"

namespace undertone {
namespace {

constexpr int kRate = 16000;
constexpr double kCutoff = 64;

std::vector<double> Filter(const std::vector<float>& samples, double cutoff = kCutoff, int rate = kRate) {
  std::vector<double> filtered(samples.size());
  Highpass::State state = {};
  Highpass(rate, cutoff).Run(samples.data(), samples.size(), &state,
                             [&](size_t i, double value) { filtered[i] = value; });
  return filtered;
}

// Gain of a sine, after half a second, in dB.
double GainDb(double hertz, double cutoff, int rate) {
  const std::vector<float> sine = test::Sine(hertz, rate, static_cast<size_t>(2 * rate), 0.5);
  const std::vector<double> filtered = Filter(sine, cutoff, rate);
  double before = 0;
  double after = 0;
  for (size_t i = static_cast<size_t>(rate) / 2; i < sine.size(); ++i) {
    before += static_cast<double>(sine[i]) * sine[i];
    after += filtered[i] * filtered[i];
  }
  return 10 * std::log10(after / before);
}

TEST_CASE("equals scipy's elliptic high-pass") {
  const std::vector<double> filtered = Filter(TestSignal(1, 4800));
  const std::vector<float> expected = ReadVector("scipy_highpass");
  REQUIRE(filtered.size() == expected.size());
  for (size_t i = 0; i < filtered.size(); ++i) CHECK(std::fabs(filtered[i] - expected[i]) < 1e-6);
}

TEST_CASE("passes the cutoff and more, and removes rumble, at every rate") {
  for (const int rate : {8000, 16000, 48000}) {
    for (const double cutoff : {10.0, 64.0, 200.0}) {
      for (const double above : {1.0, 1.3, 2.0, 16.0}) {
        CHECK(std::fabs(GainDb(above * cutoff, cutoff, rate)) < 0.11);
      }
      for (const double below : {0.2, 0.4, 0.6, 0.63}) CHECK(GainDb(below * cutoff, cutoff, rate) < -45.8);
    }
  }
}

TEST_CASE("a stream that starts with an offset has no step") {
  std::vector<float> samples = Noise(kRate, 0.01);
  const std::vector<double> expected = Filter(samples);
  for (float& sample : samples) sample += 0.5F;
  const std::vector<double> filtered = Filter(samples);
  for (size_t i = 0; i < filtered.size(); ++i) CHECK(std::fabs(filtered[i] - expected[i]) < 1e-6);
}

TEST_CASE("how a stream is cut changes no bit") {
  const std::vector<float> samples = TestSignal(2, 5000);
  const std::vector<double> whole = Filter(samples);
  const Highpass highpass(kRate, kCutoff);
  for (const size_t length : {1, 7, 160, 255, 256, 1000}) {
    std::vector<double> filtered;
    Highpass::State state = {};
    for (size_t at = 0; at < samples.size(); at += length) {
      highpass.Run(samples.data() + at, std::min(length, samples.size() - at), &state,
                   [&](size_t, double value) { filtered.push_back(value); });
    }
    CHECK(filtered == whole);
  }
}

TEST_CASE("silence ends in zeros, not in subnormal numbers") {
  std::vector<float> samples = Noise(1000, 0.5);
  samples.resize(3 * kRate);
  const std::vector<double> filtered = Filter(samples);
  for (const double value : filtered) CHECK((value == 0 || std::fabs(value) > 1e-30));
  CHECK(filtered.back() == 0);
}

}  // namespace
}  // namespace undertone
