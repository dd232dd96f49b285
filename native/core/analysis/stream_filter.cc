#include "analysis/stream_filter.h"

#include <algorithm>
#include <cmath>

namespace undertone {
namespace {

constexpr float kFullScale = 0.999F;  // of 16-bit samples, after resampling

// Time constant of the mean in quiet hops. Louder hops say less of it, by their power over that of a quiet hop or
// of a part of what their mean differs.
constexpr double kMeanSeconds = 0.1;
constexpr double kQuietPower = 1e-6;
constexpr double kDifference = 0.1;
// Smaller means are no offset: nothing of them is removed up to kNoOffset, all of them from twice that on. Of 160
// recordings of 32 corpora 9 % pass it, most by plosives close to the microphone.
constexpr double kNoOffset = 0.002;
// A mean that decays in silence becomes 0 before it is a subnormal number, which are slow.
constexpr double kSettled = 1e-20;

double OffsetOf(double mean) { return mean * std::clamp(std::fabs(mean) / kNoOffset - 1, 0.0, 1.0); }

}  // namespace

StreamFilter::StreamFilter(int rate, size_t hop_length, std::optional<double> highpass_hz)
    : hop_length_(hop_length),
      mean_gain_(1 - std::exp(-1 / (kMeanSeconds * rate))),
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
    const double hop_power = state->energy / static_cast<double>(hop_length_);
    *power++ = static_cast<float>(hop_power);
    *clipped++ = static_cast<float>(state->clipped);
    EndHop(hop_power, state);
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
  double sum = state->sum;
  double mean = state->mean;
  const double gain = mean_gain_ / (1 + state->noise);
  const bool removes_rumble = removes_rumble_;
  highpass_.Run(samples, count, &state->highpass, [&](size_t i, double filtered) {
    energy += filtered * filtered;
    sum += samples[i];
    mean += gain * (samples[i] - mean);
    samples[i] = static_cast<float>(removes_rumble ? filtered : samples[i] - OffsetOf(mean));
  });
  state->energy = energy;
  state->sum = sum;
  state->mean = mean;
}

void StreamFilter::EndHop(double power, State* state) const {
  const double difference = kDifference * (state->sum / static_cast<double>(hop_length_) - state->mean);
  state->noise = power / (kQuietPower + difference * difference);
  if (std::fabs(state->mean) < kSettled) state->mean = 0;
  state->energy = state->clipped = state->sum = 0;
}

}  // namespace undertone
