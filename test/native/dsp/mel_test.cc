#include "dsp/mel.h"

#include <doctest/doctest.h>

#include <numeric>

#include "support/specs.h"

namespace undertone {
namespace {

// HTK's and Slaney's published anchors: 1000 Hz is 1000 mel (to rounding) and 15 mel.
TEST_CASE("mel scales have their anchors and are inverted") {
  CHECK(HzToMel(1000.0, MelScale::kHtk) == doctest::Approx(999.9856).epsilon(1e-6));
  CHECK(HzToMel(1000.0, MelScale::kSlaney) == doctest::Approx(15.0));
  CHECK(HzToMel(6400.0, MelScale::kSlaney) == doctest::Approx(42.0));
  for (MelScale scale : {MelScale::kHtk, MelScale::kSlaney}) {
    for (double hz : {0.0, 20.0, 999.0, 1000.0, 1001.0, 7999.0}) {
      CHECK(MelToHz(HzToMel(hz, scale), scale) == doctest::Approx(hz));
    }
  }
}

TEST_CASE("neighbouring triangles sum to one between the first and the last top") {
  FeatureSpec spec = WhisperSpec();
  spec.mel_norm = MelNorm::kNone;
  spec.n_mels = 20;
  const MelFilters filters = MakeMelFilters(spec);
  std::vector<double> sums(201);
  size_t at = 0;
  for (size_t m = 0; m < 20; ++m) {
    for (int k = 0; k < filters.count[m]; ++k) {
      sums[static_cast<size_t>(filters.first[m] + k)] += static_cast<double>(filters.weights[at++]);
    }
  }
  CHECK(at == filters.weights.size());
  for (size_t k = 10; k < 150; ++k) CHECK(sums[k] == doctest::Approx(1.0).epsilon(1e-6));
}

TEST_CASE("Slaney's norm scales each triangle to area one") {
  FeatureSpec spec = WhisperSpec();
  spec.n_mels = 10;
  spec.n_fft = 32000;  // half a hertz a bin: the sum is the area
  const MelFilters filters = MakeMelFilters(spec);
  auto weight = filters.weights.begin();
  for (size_t m = 0; m < 10; ++m) {
    const double sum = std::accumulate(weight, weight + filters.count[m], 0.0);
    CHECK(sum * 0.5 == doctest::Approx(1.0).epsilon(1e-3));
    weight += filters.count[m];
  }
}

}  // namespace
}  // namespace undertone
