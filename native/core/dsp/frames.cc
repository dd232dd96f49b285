#include "dsp/frames.h"

namespace undertone {
namespace {

int64_t Mirror(int64_t index, int64_t n, bool repeat_edge) {
  const int64_t period = repeat_edge ? 2 * n : 2 * (n - 1);
  if (period == 0) return 0;
  int64_t folded = index % period;
  if (folded < 0) folded += period;
  if (folded < n) return folded;
  return repeat_edge ? period - 1 - folded : period - folded;
}

}  // namespace

size_t FrameCount(const FeatureSpec& spec, size_t n) {
  const size_t hop = static_cast<size_t>(spec.hop_length);
  const size_t length = static_cast<size_t>(spec.win_length);
  size_t frames = 0;
  if (n == 0) return 0;
  switch (spec.padding) {
    case Padding::kNone:
      frames = n < length ? 0 : 1 + (n - length) / hop;
      break;
    case Padding::kReflectCenter:
      frames = 1 + n / hop;
      break;
    case Padding::kSnipEdgesFalse:
      frames = (n + hop / 2) / hop;
      break;
  }
  return spec.drop_last && frames > 0 ? frames - 1 : frames;
}

int64_t FrameStart(const FeatureSpec& spec, size_t frame) {
  const int64_t start = static_cast<int64_t>(frame) * spec.hop_length;
  switch (spec.padding) {
    case Padding::kNone:
      return start;
    case Padding::kReflectCenter:
      return start - spec.win_length / 2;
    case Padding::kSnipEdgesFalse:
      return start + spec.hop_length / 2 - spec.win_length / 2;
  }
  return start;
}

void CopyMirrored(const float* samples, size_t n, Padding padding, int64_t begin, size_t length, float* out) {
  const int64_t count = static_cast<int64_t>(n);
  const bool repeat_edge = padding == Padding::kSnipEdgesFalse;
  for (size_t i = 0; i < length; ++i) {
    out[i] = samples[Mirror(begin + static_cast<int64_t>(i), count, repeat_edge)];
  }
}

}  // namespace undertone
