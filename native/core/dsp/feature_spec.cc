#include <string>
#include <tuple>

#include "dsp/features.h"
#include "error.h"

namespace undertone {
namespace {

bool IsSmooth(int n) {
  for (int factor : {2, 3, 5}) {
    while (n % factor == 0) n /= factor;
  }
  return n == 1;
}

void CheckFrames(const FeatureSpec& spec) {
  CheckRange(spec.sample_rate, 1000, 384000, "sampleRate");
  CheckRange(spec.win_length, 2, 32768, "winLength");
  CheckRange(spec.hop_length, 1, 32768, "hopLength");
  CheckRange(spec.preemphasis, 0, 1, "preemphasis");
  CheckRange(spec.n_fft, spec.win_length, 32768, "nFft");
  if (spec.n_fft % 2 != 0 || !IsSmooth(spec.n_fft)) {
    ThrowOutOfRange("an even product of 2, 3 and 5", "nFft", spec.n_fft);
  }
}

void CheckMel(const FeatureSpec& spec) {
  const double nyquist = spec.sample_rate / 2.0;
  CheckRange(spec.n_mels, 1, 1024, "nMels");
  CheckRange(spec.low_hz, 0, nyquist, "lowHz");
  CheckRange(spec.high_hz, 0, nyquist, "highHz");
  if (spec.high_hz <= spec.low_hz) ThrowOutOfRange("more than `lowHz`", "highHz", spec.high_hz);
  // The logarithm's polynomial needs normal floats.
  CheckRange(spec.log_floor, 1e-37, 1, "logFloor");
  if (spec.top_db) CheckRange(*spec.top_db, 1e-5, 1e7, "topDb");
  CheckRange(spec.offset, -1e6, 1e6, "offset");
  CheckRange(spec.scale, -1e6, 1e6, "scale");
}

void CheckCepstrum(const FeatureSpec& spec) {
  // The sine of a quotient by almost 0 is not a number.
  if (spec.lifter != 0 && !(spec.lifter >= 1 && spec.lifter <= 1000)) {
    ThrowOutOfRange("0 or a number from 1 to 1000", "lifter", spec.lifter);
  }
  if (spec.n_mfcc) {
    CheckRange(*spec.n_mfcc, 1, spec.n_mels, "nMfcc");
  } else if (spec.lifter != 0) {
    ThrowOutOfRange("0 without `nMfcc`", "lifter", spec.lifter);
  }
  if (spec.energy != Energy::kLog) return;
  if (!spec.n_mfcc) {
    throw Error(ErrorCode::kBadArgument, "Expected \"none\" without `nMfcc` for `energy`, got \"log\"");
  }
  if (spec.top_db) ThrowOutOfRange("null with `energy`", "topDb", *spec.top_db);
}

}  // namespace

bool operator==(const FeatureSpec& a, const FeatureSpec& b) {
  const auto members = [](const FeatureSpec& s) {
    return std::tie(s.sample_rate, s.win_length, s.hop_length, s.padding, s.drop_last, s.remove_dc,
                    s.preemphasis, s.window, s.window_periodic, s.n_fft, s.spectrum, s.n_mels, s.low_hz,
                    s.high_hz, s.mel_scale, s.mel_norm, s.mel_triangles, s.log_base, s.log_floor, s.top_db,
                    s.offset, s.scale, s.n_mfcc, s.lifter, s.energy);
  };
  return members(a) == members(b);
}

void CheckFeatureSpec(const FeatureSpec& spec) {
  CheckFrames(spec);
  CheckMel(spec);
  CheckCepstrum(spec);
}

}  // namespace undertone
