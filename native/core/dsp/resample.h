#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace undertone {

// Streaming mono resampler: soxr's HQ recipe (20 bit, linear phase, pass band up to 0.91 of the lower Nyquist
// frequency). Equal rates copy. Without delay: n samples become round(n * target / source).
class Resampler {
 public:
  // Rates in Hz, both above 0.
  Resampler(int source_rate, int target_rate);
  ~Resampler();
  Resampler(Resampler&&) noexcept;
  Resampler& operator=(Resampler&&) noexcept;

  // Appends the output available so far.
  void Process(const float* samples, size_t count, std::vector<float>* out);

  // Appends the rest. Process may not be called afterwards.
  void Flush(std::vector<float>* out);

 private:
  struct State;

  std::unique_ptr<State> state_;
};

// The version of the loaded soxr.
std::string ResamplerVersion();

}  // namespace undertone
