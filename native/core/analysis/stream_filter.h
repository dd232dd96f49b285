#pragma once

// What the samples of a recording pass before anything reads them.

#include <cstddef>
#include <optional>

#include "dsp/highpass.h"

namespace undertone {

// Cutoff before the power of hops is measured: rumble counts neither as speech nor as noise.
constexpr double kPowerHighpassHz = 64;

// Removes rumble and offset where the models were trained without. For other models, removes an offset or slow drift
// alone, and only one that exceeds what clean recordings have, which stay as they are to the bit. Measures each hop
// on the way. How the stream is cut into blocks changes no bit.
class StreamFilter {
 public:
  // Of a stream; zeros at its start.
  struct State {
    Highpass::State highpass;
    double energy;   // of the hop that has not ended, without rumble
    double clipped;  // its samples at full scale
    double sum;      // of its samples
    double mean;     // running, of the samples
    double noise;    // how little the hop before says of the mean: its power over that of the offset
  };

  // `rate`: samples per second. `hop_length`: samples, at least 1. `highpass_hz`: none removes an
  // offset alone.
  StreamFilter(int rate, size_t hop_length, std::optional<double> highpass_hz);

  // Hops that end within the next `count` samples.
  size_t Hops(const State& state, size_t count) const { return (Place(state) + count) / hop_length_; }

  // Filters the next samples in place. Writes for each hop that ends in them its mean square without rumble, and
  // how many of its samples were at full scale.
  void Run(float* samples, size_t count, State* state, float* power, float* clipped) const;

 private:
  size_t Place(const State& state) const;
  void RunPart(float* samples, size_t count, State* state) const;
  void EndHop(double power, State* state) const;

  const size_t hop_length_;
  const double mean_gain_;
  const bool removes_rumble_;
  const Highpass highpass_;
};

}  // namespace undertone
