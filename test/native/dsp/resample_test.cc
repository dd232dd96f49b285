#include "dsp/resample.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "error.h"
#include "support/audio_files.h"

namespace undertone {
namespace {

using test::FitSine;
using test::Sine;

std::vector<float> Convert(int from, int to, const std::vector<float>& samples, size_t step) {
  Resampler resampler(from, to);
  std::vector<float> out;
  for (size_t at = 0; at < samples.size(); at += step) {
    resampler.Process(samples.data() + at, std::min(step, samples.size() - at), &out);
  }
  resampler.Flush(&out);
  return out;
}

TEST_CASE("a sine keeps its frequency and level, 100 dB above all else") {
  for (const int from : {8000, 11025, 22050, 32000, 44100, 48000, 96000}) {
    CAPTURE(from);
    for (const double hertz : {100.0, 997.0, 3200.0}) {
      CAPTURE(hertz);
      const std::vector<float> out =
          Convert(from, 16000, Sine(hertz, from, static_cast<size_t>(from) * 2, 0.5), 1000);
      const auto fit = FitSine(out.data() + 4000, 24000, hertz, 16000);
      CHECK(fit.sine_db == doctest::Approx(-9.03).epsilon(0.002));
      CHECK(fit.sine_db - fit.rest_db >= 100);
    }
  }
}

TEST_CASE("content above the new Nyquist frequency is 80 dB down") {
  for (const int from : {44100, 48000}) {
    for (const double hertz : {8800.0, 11000.0, 15000.0, 20000.0}) {
      CAPTURE(hertz);
      const std::vector<float> out =
          Convert(from, 16000, Sine(hertz, from, static_cast<size_t>(from) * 2, 1), 4096);
      double power = 0;
      for (size_t i = 4000; i < 28000; ++i) power += static_cast<double>(out[i]) * out[i];
      CHECK(10 * std::log10(power / 24000 + 1e-30) <= -83);
    }
  }
}

TEST_CASE("the length is the duration's, and sound stays in its place") {
  for (const int from : {8000, 22050, 44100, 44101, 48000, 384000}) {
    CAPTURE(from);
    std::vector<float> click(static_cast<size_t>(from), 0.0F);
    click[static_cast<size_t>(from) / 2] = 1;
    const std::vector<float> out = Convert(from, 16000, click, 777);
    CHECK(std::abs(static_cast<double>(out.size()) - 16000) <= 1);
    const auto peak = std::max_element(out.begin(), out.end()) - out.begin();
    CHECK(std::abs(static_cast<double>(peak) - 8000) <= 1);
  }
}

TEST_CASE("equal rates copy, and the pieces given do not matter") {
  const std::vector<float> noise = Sine(440, 44100, 50000, 0.3);
  CHECK(Convert(16000, 16000, noise, 333) == noise);
  CHECK(Convert(44100, 16000, noise, 1) == Convert(44100, 16000, noise, 50000));
}

TEST_CASE("a rate of 0 is refused") {
  CHECK_THROWS_WITH_AS(Resampler(0, 16000), "Expected a rate above 0 for `sampleRate`, got 0", Error);
}

}  // namespace
}  // namespace undertone
