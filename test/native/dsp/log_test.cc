// The scalar build of the logarithm; features_test.cc compares the vector builds with it.
#define UNDERTONE_LANES 1
#include "dsp/log.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>

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

}  // namespace
}  // namespace undertone
