#include "dsp/mfcc.h"

#include <doctest/doctest.h>

#include <cmath>

#include "support/specs.h"

namespace undertone {
namespace {

TEST_CASE("the cosine transform's rows are orthonormal") {
  FeatureSpec spec = WhisperSpec();
  spec.n_mels = 40;
  spec.n_mfcc = 40;
  const std::vector<float> rows = MakeDctMatrix(spec);
  for (size_t a = 0; a < 40; ++a) {
    for (size_t b = 0; b < 40; ++b) {
      double dot = 0.0;
      for (size_t m = 0; m < 40; ++m) dot += static_cast<double>(rows[a * 40 + m]) * rows[b * 40 + m];
      CHECK(std::abs(dot - (a == b ? 1.0 : 0.0)) < 1e-6);
    }
  }
}

TEST_CASE("the lifter leaves row 0 and peaks at half its period") {
  FeatureSpec spec = WhisperSpec();
  spec.n_mfcc = 13;
  const std::vector<float> plain = MakeDctMatrix(spec);
  spec.lifter = 22.0;
  const std::vector<float> lifted = MakeDctMatrix(spec);
  CHECK(lifted[0] == plain[0]);
  CHECK(lifted[11 * 80] / plain[11 * 80] == doctest::Approx(12.0));
}

TEST_CASE("no n_mfcc, no rows") { CHECK(MakeDctMatrix(WhisperSpec()).empty()); }

}  // namespace
}  // namespace undertone
