// The scalar build of the transform against the defining sum.
#define UNDERTONE_LANES 1
#include "dsp/fft.h"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "support/signal.h"

namespace undertone {
namespace {

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
