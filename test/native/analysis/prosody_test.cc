#include "analysis/prosody.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "support/audio_files.h"
#include "support/signal.h"

namespace undertone {
namespace {

constexpr double kRate = 16000;

// A voice: harmonics up to 4 kHz whose amplitudes fall by `slope_db` an octave; `hertz` of the time in
// seconds.
std::vector<float> Voice(const std::function<double(double)>& hertz, double seconds, double slope_db = -9) {
  std::vector<float> samples(static_cast<size_t>(seconds * kRate));
  double phase = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double f0 = hertz(static_cast<double>(i) / kRate);
    phase += f0 / kRate;
    double sum = 0;
    for (int k = 1; k * f0 < 4000; ++k) {
      sum += std::pow(10, slope_db / 20 * std::log2(k)) * std::sin(2 * M_PI * k * phase);
    }
    samples[i] = static_cast<float>(0.1 * sum);
  }
  return samples;
}

std::vector<float> Steady(double hertz, double slope_db = -9) {
  return Voice([=](double) { return hertz; }, 1, slope_db);
}

// One a period, shared by the two samples around its time.
std::vector<float> Pulses(double hertz) {
  std::vector<float> samples(static_cast<size_t>(kRate));
  for (double at = 10; at < kRate - 1; at += kRate / hertz) {
    const double part = at - std::floor(at);
    samples[static_cast<size_t>(at)] += static_cast<float>(0.9 * (1 - part));
    samples[static_cast<size_t>(at) + 1] += static_cast<float>(0.9 * part);
  }
  return samples;
}

ProsodyTrack Track(const std::vector<float>& samples, Lanes lanes = Lanes::kAuto) {
  return ProsodyTracker(lanes)(samples.data(), samples.size());
}

double Cents(double hertz, double expected) { return 1200 * std::log2(hertz / expected); }

double VoicedShare(const std::vector<float>& pitch) {
  const auto voiced = std::count_if(pitch.begin(), pitch.end(), [](float hertz) { return hertz > 0; });
  return static_cast<double>(voiced) / static_cast<double>(pitch.size());
}

// Every frame but those that the recording's ends reach into.
void CheckEvery(const std::vector<float>& values, double tolerance,
                const std::function<double(size_t)>& error) {
  for (size_t i = 3; i + 3 < values.size(); ++i) {
    CAPTURE(i);
    CAPTURE(values[i]);
    REQUIRE(std::abs(error(i)) < tolerance);
  }
}

TEST_CASE("sines, voices and pulses have their pitch within 5 cents, whatever the octave") {
  for (const double hertz : {62.0, 80.0, 110.0, 157.3, 220.0, 311.1, 440.0, 490.0}) {
    CAPTURE(hertz);
    for (const std::vector<float>& samples :
         {test::Sine(hertz, kRate, static_cast<size_t>(kRate), 0.3), Steady(hertz), Pulses(hertz)}) {
      const std::vector<float> pitch = Track(samples).pitch_hz;
      CheckEvery(pitch, 5, [&](size_t i) { return Cents(pitch[i], hertz); });
    }
  }
}

TEST_CASE("a missing fundamental is found") {
  std::vector<float> samples(static_cast<size_t>(kRate));
  for (const double harmonic : {600.0, 800.0, 1000.0}) {
    const std::vector<float> sine = test::Sine(harmonic, kRate, samples.size(), 0.1);
    for (size_t i = 0; i < samples.size(); ++i) samples[i] += sine[i];
  }
  const std::vector<float> pitch = Track(samples).pitch_hz;
  CheckEvery(pitch, 5, [&](size_t i) { return Cents(pitch[i], 200); });
}

TEST_CASE("a glide of an octave a second is followed, a frame being centred on its time") {
  const auto hertz = [](double seconds) { return 100 * std::exp2(seconds); };
  const std::vector<float> pitch = Track(Voice(hertz, 2)).pitch_hz;
  CHECK(pitch.size() == 200);
  CheckEvery(pitch, 12, [&](size_t i) { return Cents(pitch[i], hertz(static_cast<double>(i) / 100)); });
}

TEST_CASE("noise and silence are unvoiced") {
  CHECK(VoicedShare(Track(Noise(160000, 0.3)).pitch_hz) < 0.02);
  const ProsodyTrack silence = Track(std::vector<float>(16000));
  CHECK(VoicedShare(silence.pitch_hz) == 0);
  CHECK(silence.level_db == std::vector<float>(100, -100.0F));
  CHECK(silence.tilt_db == std::vector<float>(100, 0.0F));
  CHECK(Track({}).pitch_hz.empty());
  CHECK(Track(std::vector<float>(159)).pitch_hz.empty());
  CHECK(Track(std::vector<float>(160, 0.5F)).pitch_hz.size() == 1);
}

TEST_CASE("a voice in noise keeps its octave, and pauses between voices stay unvoiced") {
  std::vector<float> samples(4 * 16000);
  const std::vector<float> voice = Steady(140);
  std::copy(voice.begin(), voice.end(), samples.begin());
  std::copy(voice.begin(), voice.end(), samples.begin() + 2 * 16000);
  const std::vector<float> noise = Noise(samples.size(), 0.03);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] += noise[i];
  const std::vector<float> pitch = Track(samples).pitch_hz;
  for (size_t i = 0; i < pitch.size(); ++i) {
    const bool spoken = i % 200 < 100;
    const bool edge = i % 100 < 3 || i % 100 > 96;
    CAPTURE(i);
    if (edge) continue;
    if (spoken) {
      REQUIRE(std::abs(Cents(pitch[i], 140)) < 25);
    } else {
      REQUIRE(pitch[i] == 0);
    }
  }
}

TEST_CASE("gain changes no pitch and no tilt, and moves the level by itself") {
  const std::vector<float> voice = Steady(130);
  std::vector<float> soft = voice;
  for (float& sample : soft) sample /= 8;
  const ProsodyTrack loud = Track(voice);
  const ProsodyTrack quiet = Track(soft);
  CHECK(loud.pitch_hz == quiet.pitch_hz);
  CheckEvery(loud.level_db, 1e-3, [&](size_t i) { return loud.level_db[i] - quiet.level_db[i] - 18.0618; });
  CheckEvery(loud.tilt_db, 1e-3, [&](size_t i) { return loud.tilt_db[i] - quiet.tilt_db[i]; });
}

TEST_CASE("level is the power of the sound") {
  for (const double amplitude : {1.0, 0.1, 0.001}) {
    const std::vector<float> level = Track(test::Sine(400, kRate, 16000, amplitude)).level_db;
    CheckEvery(level, 0.01, [&](size_t i) { return level[i] - 10 * std::log10(amplitude * amplitude / 2); });
  }
}

TEST_CASE("tilt is the slope of the power density") {
  for (const double slope : {0.0, -6.0, -12.0, -18.0}) {
    CAPTURE(slope);
    for (const double hertz : {80.0, 120.0, 210.0}) {
      const std::vector<float> tilt = Track(Steady(hertz, slope)).tilt_db;
      double sum = 0;
      for (size_t i = 3; i < 97; ++i) sum += tilt[i];
      CHECK(sum / 94 == doctest::Approx(slope).epsilon(0.05).scale(10));
    }
  }
  const std::vector<float> tilt = Track(Noise(160000, 0.3)).tilt_db;
  double sum = 0;
  for (const float value : tilt) sum += value;
  CHECK(std::abs(sum / static_cast<double>(tilt.size())) < 0.3);
}

TEST_CASE("all vector widths have the same bits") {
  const std::vector<float> samples = Voice([](double s) { return 90 + 60 * s; }, 1.234);
  const ProsodyTrack scalar = Track(samples, Lanes::kScalar);
  for (const Lanes lanes : {Lanes::kFour, Lanes::kEight, Lanes::kSixteen}) {
    if (!LanesSupported(lanes)) continue;
    const ProsodyTrack wide = Track(samples, lanes);
    CHECK(wide.pitch_hz == scalar.pitch_hz);
    CHECK(wide.level_db == scalar.level_db);
    CHECK(wide.tilt_db == scalar.tilt_db);
  }
}

#ifndef UNDERTONE_KERNEL_TESTS  // no decoder
// espeak-ng's male voice speaks at about 110 Hz and is never an octave off for long.
TEST_CASE("synthetic speech is half voiced, near its speaker's pitch") {
  const test::Bytes bytes = test::Fixture("mono-16k.wav");
  const std::vector<float> samples = Decode(bytes.data(), bytes.size(), test::Limits()).samples;
  std::vector<float> pitch = Track(samples).pitch_hz;
  CHECK(VoicedShare(pitch) > 0.4);
  CHECK(VoicedShare(pitch) < 0.9);
  pitch.erase(std::remove(pitch.begin(), pitch.end(), 0.0F), pitch.end());
  std::sort(pitch.begin(), pitch.end());
  const double median = pitch[pitch.size() / 2];
  CHECK(median == doctest::Approx(105).epsilon(0.2));
  const auto strays = std::count_if(pitch.begin(), pitch.end(),
                                    [&](float hertz) { return std::abs(Cents(hertz, median)) > 900; });
  CHECK(static_cast<double>(strays) < 0.02 * static_cast<double>(pitch.size()));
}
#endif

}  // namespace
}  // namespace undertone
