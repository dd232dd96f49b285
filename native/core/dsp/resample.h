#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace undertone {

// Mono rate conversion as a stream: soxr at its HQ recipe (20 bit, linear phase, pass band to 0.91 of the
// lower Nyquist frequency). Equal rates copy. The result is aligned with the source: no delay, round(n *
// target / source) samples for n.
class Resampler {
 public:
  // Rates in Hz, both above 0.
  Resampler(int source_rate, int target_rate);
  ~Resampler();
  Resampler(Resampler&&) noexcept;
  Resampler& operator=(Resampler&&) noexcept;

  // Appends to `out` what the samples so far decide.
  void Process(const float* samples, size_t count, std::vector<float>* out);

  // Appends the rest; nothing may follow.
  void Flush(std::vector<float>* out);

 private:
  struct State;

  std::unique_ptr<State> state_;
};

}  // namespace undertone
