// The scalar builds of logarithm and transform; features_test.cc compares the vector builds with them.
#define UNDERTONE_LANES 1
#include "dsp/simd.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <complex>
#include <vector>

#include "dsp/fft.h"
#include "support/signal.h"

namespace undertone {
namespace {

TEST_CASE("the logarithm is within 2e-7 of the true one, relative or absolute") {
  double worst = 0.0;
  for (float x = FLT_MIN; x < FLT_MAX / 1.0001f; x *= 1.0001f) {
    const double expected = std::log(static_cast<double>(x));
    worst = std::max(worst, std::abs(lanes1::Log(x) - expected) / std::max(1.0, std::abs(expected)));
  }
  CHECK(worst < 2e-7);
  CHECK(lanes1::Log(1.0f) == 0.0f);
}

TEST_CASE("the real transform is the defining sum") {
  for (int n : {2, 4, 6, 10, 30, 400, 512, 600}) {
    const std::vector<float> frame = TestSignal(4, static_cast<size_t>(n));
    std::vector<float> spectrum(static_cast<size_t>(n) + 2);
    lanes1::Fft* fft = lanes1::CreateFft(n);
    REQUIRE(fft != nullptr);
    lanes1::RunFft(fft, frame.data(), spectrum.data());
    lanes1::DestroyFft(fft);
    for (int k = 0; k <= n / 2; ++k) {
      std::complex<double> sum = 0.0;
      for (int i = 0; i < n; ++i) {
        sum += static_cast<double>(frame[static_cast<size_t>(i)]) * std::polar(1.0, -2.0 * M_PI * k * i / n);
      }
      const size_t at = 2 * static_cast<size_t>(k);
      CHECK(std::abs(std::complex<double>(spectrum[at], spectrum[at + 1]) - sum) < 1e-4);
    }
  }
}

}  // namespace
}  // namespace undertone
