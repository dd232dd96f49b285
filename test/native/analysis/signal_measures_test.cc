#include "analysis/signal_measures.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "dsp/resample.h"
#include "support/audio_files.h"
#include "support/signal.h"

namespace undertone {
namespace {

constexpr int kRate = 16000;

// 1 s of noise, 2 s of a louder sound with the same noise, 1 s of noise.
std::vector<float> Recording(const std::vector<float>& sound, double noise) {
  std::vector<float> samples = Noise(4 * kRate, noise);
  for (size_t i = 0; i < 2 * kRate; ++i) samples[kRate + i] += sound[i];
  return samples;
}

SignalQuality Measure(const std::vector<float>& samples, const std::vector<Segment>& speech) {
  return MeasureSignalQuality(samples.data(), samples.size(), kRate, speech);
}

TEST_CASE("level is the RMS of the speech alone") {
  const std::vector<float> samples = Recording(test::Sine(500, kRate, 2 * kRate, 0.5), 0);
  CHECK(Measure(samples, {{1, 3}}).level_dbfs == doctest::Approx(-9.03).epsilon(0.01));
  CHECK(Measure(samples, {{0, 4}}).level_dbfs == doctest::Approx(-12.04).epsilon(0.01));
}

TEST_CASE("the noise's own power is not speech") {
  const double noise_rms = 0.05 / std::sqrt(3);
  for (const double snr : {3.0, 10.0, 30.0}) {
    const double amplitude = noise_rms * std::pow(10, snr / 20) * std::sqrt(2);
    const std::vector<float> samples = Recording(test::Sine(500, kRate, 2 * kRate, amplitude), 0.05);
    CHECK(Measure(samples, {{1, 3}}).snr_db == doctest::Approx(snr).epsilon(0.05));
  }
  CHECK(Measure(Recording(test::Sine(500, kRate, 2 * kRate, 0.5), 2e-5), {{1, 3}}).snr_db == 60);
  CHECK(Measure(Noise(4 * kRate, 0.1), {{1, 3}}).snr_db < 1);
}

TEST_CASE("noise under speech that never stops is read from the quietest frames") {
  const double noise_rms = 0.05 / std::sqrt(3);
  for (const double snr : {3.0, 10.0, 20.0}) {
    const double amplitude = noise_rms * std::pow(10, snr / 20) * std::sqrt(4);  // on for half of the time
    std::vector<float> samples = Noise(4 * kRate, 0.05);
    const std::vector<float> sound = test::Sine(500, kRate, 4 * kRate, amplitude);
    for (size_t i = 0; i < samples.size(); ++i) samples[i] += i / 1600 % 2 == 0 ? sound[i] : 0;
    CHECK(Measure(samples, {{0, 4}}).snr_db == doctest::Approx(snr).epsilon(0.06));
  }
}

TEST_CASE("digital silence and the tails of speech are not its noise") {
  const double noise_rms = 0.05 / std::sqrt(3);
  std::vector<float> samples =
      Recording(test::Sine(500, kRate, 2 * kRate, noise_rms * 10 * std::sqrt(2)), 0.05);
  const double plain = Measure(samples, {{1, 3}}).snr_db;
  samples.insert(samples.end(), kRate, 0.0F);
  CHECK(Measure(samples, {{1, 3}}).snr_db == doctest::Approx(plain).epsilon(0.01));
  CHECK(Measure(samples, {{1.08, 2.92}}).snr_db == doctest::Approx(plain).epsilon(0.01));
}

TEST_CASE("without 0.1 s of speech there is no ratio") {
  const std::vector<float> samples = Noise(2 * kRate, 0.1);
  CHECK(std::isnan(Measure(samples, {{0, 0.05}}).snr_db));
  CHECK_FALSE(std::isnan(Measure(samples, {{0, 0.15}}).snr_db));
  CHECK(Measure(samples, {{0, 2}}).snr_db < 1);
}

TEST_CASE("bandwidth is where the spectrum ends") {
  const std::vector<Segment> all{{0, 3}};
  CHECK(Measure(Noise(3 * kRate, 0.3), all).bandwidth_hz > 7600);
  for (const int narrow : {8000, 11025}) {
    Resampler resampler(narrow, kRate);
    std::vector<float> samples;
    const std::vector<float> noise = Noise(static_cast<size_t>(narrow) * 3, 0.3);
    resampler.Process(noise.data(), noise.size(), &samples);
    resampler.Flush(&samples);
    const double width = Measure(samples, all).bandwidth_hz;
    CHECK(width == doctest::Approx(narrow / 2.0).epsilon(0.06));
  }
  CHECK(Measure(test::Sine(1000, kRate, 3 * kRate, 0.5), all).bandwidth_hz < 1300);
}

TEST_CASE("silence, nothing and nonsense have an answer") {
  const std::vector<float> silence(kRate, 0.0F);
  CHECK(Measure(silence, {{0.2, 0.8}}).level_dbfs == -100);
  CHECK(Measure(silence, {{0.2, 0.8}}).snr_db == 0);
  CHECK(Measure(silence, {{0.2, 0.8}}).bandwidth_hz == 0);
  CHECK(Measure(silence, {}).level_dbfs == -100);
  CHECK(Measure({}, {{0, 1}}).level_dbfs == -100);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(Measure(Noise(kRate, 0.1), {{nan, nan}, {5, 9}, {0.9, 0.1}, {-3, -1}}).level_dbfs == -100);
  const std::vector<float> noise = Noise(kRate, 0.1);
  CHECK(Measure(noise, {{0.1, 0.6}, {0.3, 0.8}}).level_dbfs == Measure(noise, {{0.1, 0.8}}).level_dbfs);
}

TEST_CASE("a rate that is refused changes nothing for the next recording") {
  const std::vector<float> noise = Noise(kRate, 0.1);
  const double before = Measure(noise, {{0, 1}}).bandwidth_hz;
  CHECK_THROWS_WITH(MeasureSignalQuality(noise.data(), noise.size(), 500000, {{0, 1}}),
                    "Expected a number from 1000 to 384000 for `sampleRate`, got 500000");
  CHECK(Measure(noise, {{0, 1}}).bandwidth_hz == before);
}

TEST_CASE("rumble and an offset change neither level, ratio nor bandwidth") {
  std::vector<float> samples = Noise(4 * kRate, 0.001);
  const std::vector<float> loud = Noise(2 * kRate, 0.1, 9);
  std::copy(loud.begin(), loud.end(), samples.begin() + kRate);
  const std::vector<Segment> speech = {{1, 3}};
  const SignalQuality plain = Measure(samples, speech);
  CHECK(plain.snr_db == doctest::Approx(40).epsilon(0.02));
  for (size_t i = 0; i < samples.size(); ++i) {
    samples[i] += static_cast<float>(0.05 + 0.05 * std::sin(2 * M_PI * 15 * static_cast<double>(i) / kRate));
  }
  const SignalQuality rumble = Measure(samples, speech);
  CHECK(std::fabs(rumble.level_dbfs - plain.level_dbfs) < 0.1);
  CHECK(rumble.snr_db > 30);
  CHECK(rumble.bandwidth_hz == plain.bandwidth_hz);
}

TEST_CASE("speech that was not detected is no noise") {
  std::vector<float> samples = Noise(4 * kRate, 0.001);
  const std::vector<float> loud = Noise(2 * kRate, 0.1, 9);
  std::copy(loud.begin(), loud.end(), samples.begin());
  CHECK(Measure(samples, {{0.5, 2}}).snr_db == doctest::Approx(40).epsilon(0.02));
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
