#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

// The signal of test/native/oracles/make.py, bit by bit.
inline std::vector<float> TestSignal(uint32_t seed, size_t count) {
  std::vector<float> out(count);
  uint32_t state = seed;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    const double noise = static_cast<double>(state >> 8) / 16777216.0 - 0.5;
    const double square = (i / 40) % 2 ? 0.1 : -0.1;
    out[i] = static_cast<float>(0.5 * noise * static_cast<double>((i % 1600) + 1) / 1600.0 + square + 0.02);
  }
  return out;
}

// White noise in [-1, 1] times `amplitude`; RMS amplitude / sqrt(3).
inline std::vector<float> Noise(size_t count, double amplitude, uint32_t seed = 12345) {
  std::vector<float> samples(count);
  uint32_t state = seed;
  for (float& sample : samples) {
    state = state * 1664525U + 1013904223U;
    sample = static_cast<float>(amplitude * (state / 2147483648.0 - 1));
  }
  return samples;
}

namespace undertone::test {

inline std::vector<float> Sine(double hertz, double rate, size_t count, double amplitude) {
  std::vector<float> samples(count);
  for (size_t i = 0; i < count; ++i) {
    samples[i] = static_cast<float>(amplitude * std::sin(2 * M_PI * hertz * static_cast<double>(i) / rate));
  }
  return samples;
}

}  // namespace undertone::test
