#include <cmath>
#include <locale>
#include <sstream>
#include <string>
#include <tuple>

#include "dsp/features.h"
#include "error.h"

namespace undertone {
namespace {

[[noreturn]] void Refuse(const std::string& expected, const char* name, double got) {
  std::ostringstream reason;
  reason.imbue(std::locale::classic());
  reason << "Expected " << expected << " for `" << name << "`, got " << got;
  throw Error(ErrorCode::kBadArgument, reason.str());
}

void CheckRange(double value, double low, double high, const char* name) {
  if (value >= low && value <= high) return;
  std::ostringstream range;
  range.imbue(std::locale::classic());
  range << "a number from " << low << " to " << high;
  Refuse(range.str(), name, value);
}

bool IsSmooth(int n) {
  for (int factor : {2, 3, 5}) {
    while (n % factor == 0) n /= factor;
  }
  return n == 1;
}

void CheckFrames(const FeatureSpec& spec) {
  CheckRange(spec.sample_rate, 1000, 384000, "sampleRate");
  CheckRange(spec.frame_length, 2, 32768, "frameLength");
  CheckRange(spec.hop, 1, 32768, "hop");
  CheckRange(spec.preemphasis, 0, 1, "preemphasis");
  CheckRange(spec.fft_length, spec.frame_length, 32768, "fftLength");
  if (spec.fft_length % 2 != 0 || !IsSmooth(spec.fft_length)) {
    Refuse("an even product of 2, 3 and 5", "fftLength", spec.fft_length);
  }
}

void CheckMel(const FeatureSpec& spec) {
  const double nyquist = spec.sample_rate / 2.0;
  CheckRange(spec.bins, 1, 1024, "bins");
  CheckRange(spec.low_hz, 0, nyquist, "lowHz");
  CheckRange(spec.high_hz, 0, nyquist, "highHz");
  if (spec.high_hz <= spec.low_hz) Refuse("more than `lowHz`", "highHz", spec.high_hz);
  // Below the smallest normal float the logarithm's polynomial does not hold.
  CheckRange(spec.log_floor, 1e-37, 1, "logFloor");
  if (spec.dynamic_range) CheckRange(*spec.dynamic_range, 1e-6, 1e6, "dynamicRange");
  CheckRange(spec.offset, -1e6, 1e6, "offset");
  CheckRange(spec.scale, -1e6, 1e6, "scale");
}

void CheckCepstrum(const FeatureSpec& spec) {
  CheckRange(spec.lifter, 0, 1000, "lifter");
  if (spec.coefficients) {
    CheckRange(*spec.coefficients, 1, spec.bins, "coefficients");
  } else if (spec.lifter != 0) {
    Refuse("0 without `coefficients`", "lifter", spec.lifter);
  }
  if (spec.energy != Energy::kLog) return;
  if (!spec.coefficients) {
    throw Error(ErrorCode::kBadArgument,
                "Expected \"none\" without `coefficients` for `energy`, got \"log\"");
  }
  if (spec.dynamic_range) Refuse("null with `energy`", "dynamicRange", *spec.dynamic_range);
}

}  // namespace

bool operator==(const FeatureSpec& a, const FeatureSpec& b) {
  const auto members = [](const FeatureSpec& s) {
    return std::tie(s.sample_rate, s.frame_length, s.hop, s.padding, s.drop_last, s.remove_dc, s.preemphasis,
                    s.window, s.window_periodic, s.fft_length, s.spectrum, s.bins, s.low_hz, s.high_hz,
                    s.mel_scale, s.mel_norm, s.mel_triangles, s.log_base, s.log_floor, s.dynamic_range,
                    s.offset, s.scale, s.coefficients, s.lifter, s.energy);
  };
  return members(a) == members(b);
}

void CheckSpec(const FeatureSpec& spec) {
  CheckFrames(spec);
  CheckMel(spec);
  CheckCepstrum(spec);
}

}  // namespace undertone
