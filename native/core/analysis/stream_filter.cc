#include "analysis/stream_filter.h"

#include <algorithm>
#include <cmath>

namespace undertone {
namespace {

constexpr float kFullScale = 0.999F;  // of 16-bit samples, after resampling

}  // namespace

StreamFilter::StreamFilter(int rate, size_t hop_length, std::optional<double> highpass_hz)
    : hop_length_(hop_length),
      removes_rumble_(highpass_hz.has_value()),
      highpass_(rate, highpass_hz.value_or(kPowerHighpassHz)) {}

void StreamFilter::Run(float* samples, size_t count, State* state, float* power, float* clipped) const {
  size_t place = Place(*state);
  while (count > 0) {
    const size_t part = std::min(count, hop_length_ - place);
    RunPart(samples, part, state);
    samples += part;
    count -= part;
    place += part;
    if (place < hop_length_) continue;
    place = 0;
    *power++ = static_cast<float>(state->energy / static_cast<double>(hop_length_));
    *clipped++ = static_cast<float>(state->clipped);
    state->energy = state->clipped = 0;
  }
}

// In the hop that has not ended.
size_t StreamFilter::Place(const State& state) const {
  return static_cast<size_t>(state.highpass.count) % hop_length_;
}

void StreamFilter::RunPart(float* samples, size_t count, State* state) const {
  int at_full_scale = 0;
  for (size_t i = 0; i < count; ++i) at_full_scale += std::fabs(samples[i]) >= kFullScale;
  state->clipped += at_full_scale;
  double energy = state->energy;
  const bool removes_rumble = removes_rumble_;
  highpass_.Run(samples, count, &state->highpass, [&](size_t i, double filtered) {
    if (removes_rumble) samples[i] = static_cast<float>(filtered);
    energy += filtered * filtered;
  });
  state->energy = energy;
}

}  // namespace undertone
