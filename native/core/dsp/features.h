#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dsp/feature_spec.h"
#include "dsp/lanes.h"

namespace undertone {

// Changes whenever the results for the same samples and spec change.
constexpr int kFeaturesVersion = 1;

// Row-major [frames x n_features]: mel bands or MFCC coefficients.
struct Features {
  std::vector<float> data;
  size_t frames;
  size_t n_features;
};

// Computes log-mel features or MFCCs. Holds plans and scratch: one per thread. The constructor does all
// planning; a call allocates only its result, and a copy of the samples if the spec has a high-pass.
class Extractor {
 public:
  // Throws kBadArgument when a member is out of range or the combination has no meaning.
  explicit Extractor(const FeatureSpec& spec, Lanes lanes = Lanes::kAuto);
  ~Extractor();
  Extractor(Extractor&&) noexcept;
  Extractor& operator=(Extractor&&) noexcept;

  size_t Frames(size_t sample_count) const;
  size_t n_features() const;
  // Writes Frames(n) x n_features() floats. Samples must be finite, with full scale 1.
  void Extract(const float* samples, size_t n, float* out);
  Features operator()(const float* samples, size_t n);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace undertone
