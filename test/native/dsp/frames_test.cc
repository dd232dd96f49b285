#include "dsp/frames.h"

#include <doctest/doctest.h>

#include "support/specs.h"

namespace undertone {
namespace {

std::vector<float> Mirrored(Padding padding, int64_t begin, size_t length) {
  const float samples[] = {0, 1, 2, 3};
  std::vector<float> out(length);
  CopyMirrored(samples, 4, padding, begin, length, out.data());
  return out;
}

TEST_CASE("reflect-center does not repeat the edge, reflect-kaldi does") {
  CHECK(Mirrored(Padding::kReflectCenter, -5, 14) ==
        std::vector<float>{1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1, 2});
  CHECK(Mirrored(Padding::kSnipEdgesFalse, -5, 14) ==
        std::vector<float>{3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0});
}

TEST_CASE("a single sample is mirrored for ever") {
  const float sample = 0.5f;
  std::vector<float> out(3);
  CopyMirrored(&sample, 1, Padding::kReflectCenter, -1, 3, out.data());
  CHECK(out == std::vector<float>{0.5f, 0.5f, 0.5f});
}

TEST_CASE("frame counts and starts follow their conventions") {
  FeatureSpec spec = WhisperSpec();
  CHECK(FrameCount(spec, 16000) == 100);
  CHECK(FrameStart(spec, 0) == -200);
  CHECK(FrameStart(spec, 3) == 280);
  spec.drop_last = false;
  CHECK(FrameCount(spec, 16000) == 101);
  CHECK(FrameCount(spec, 15999) == 100);
  spec.padding = Padding::kNone;
  CHECK(FrameCount(spec, 399) == 0);
  CHECK(FrameCount(spec, 559) == 1);
  CHECK(FrameCount(spec, 560) == 2);
  CHECK(FrameStart(spec, 2) == 320);
  spec.padding = Padding::kSnipEdgesFalse;
  CHECK(FrameCount(spec, 79) == 0);
  CHECK(FrameCount(spec, 80) == 1);
  CHECK(FrameStart(spec, 0) == -120);
}

}  // namespace
}  // namespace undertone
