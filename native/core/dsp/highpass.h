#pragma once

// The filter of rumble and offset. How a stream is cut into blocks changes no bit.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace undertone {

// Elliptic high-pass of order 5: within 0.1 dB from its cutoff on, at least 46 dB down below 0.63 of it, 0 at
// 0 Hz; scipy.signal.ellip(5, 0.1, 46, cutoff_hz, "highpass", fs=rate). The first sample also precedes the
// stream, so that a stream that starts with an offset has no step.
class Highpass {
 public:
  // Of a stream; zeros at its start.
  struct State {
    double count;  // samples so far
    double input;  // the last values: of the input, and of each section, the last one first
    double first[2];
    double second[2];
    double output[2];
  };

  // `rate`: samples per second, at least 4 times `cutoff_hz`.
  Highpass(int rate, double cutoff_hz);

  // Calls write(i, filtered) for each of the next samples.
  template <typename Write>
  void Run(const float* samples, size_t count, State* state, Write write) const;

 private:
  // 1 + forward z^-1 + z^-2 over 1 + feedback[0] z^-1 + feedback[1] z^-2.
  struct Section {
    double forward;
    double feedback[2];

    // `in` and `out`: the last two values of each.
    double Next(double value, const double* in, const double* out) const {
      return value + forward * in[0] + in[1] - feedback[1] * out[1] - feedback[0] * out[0];
    }
  };
  // The state is settled at multiples of so many samples.
  static constexpr uint64_t kSettleSamples = 256;

  static void Settle(State* state);

  double gain_;
  double first_feedback_;
  Section second_;
  Section third_;
};

template <typename Write>
void Highpass::Run(const float* samples, size_t count, State* state, Write write) const {
  State now = *state;  // in registers
  const auto push = [](double value, double* last) {
    last[1] = last[0];
    last[0] = value;
  };
  if (now.count == 0 && count > 0) now.input = samples[0];
  for (size_t i = 0; i < count;) {
    const uint64_t place = static_cast<uint64_t>(now.count) % kSettleSamples;
    const size_t length = std::min<size_t>(count - i, kSettleSamples - place);
    for (const size_t end = i + length; i < end; ++i) {
      const double first = gain_ * (samples[i] - now.input) - first_feedback_ * now.first[0];
      const double second = second_.Next(first, now.first, now.second);
      const double filtered = third_.Next(second, now.second, now.output);
      now.input = samples[i];
      push(first, now.first);
      push(second, now.second);
      push(filtered, now.output);
      write(i, filtered);
    }
    now.count += static_cast<double>(length);
    if (place + length == kSettleSamples) Settle(&now);
  }
  *state = now;
}

}  // namespace undertone
