#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "dsp/resample.h"

namespace undertone {

// Resamples one mono signal and keeps the samples that are not read yet.
class MonoOutput {
 public:
  static constexpr size_t kMaxBlock = 4096;  // frames of one block

  // `sample_rate`: of the result, Hz. `max_samples`: samples that the caller reads at a time; 0: the whole
  // result, of at most `max_seconds`.
  MonoOutput(int sample_rate, size_t max_samples, double max_seconds);

  // Flushes the resampler and opens one for the next blocks.
  void SetRate(int rate);

  // Reserves memory for a whole result.
  void Reserve(double seconds);

  // Returns memory for a block of at most kMaxBlock frames; AddBlock appends the frames written there.
  float* NextBlock() { return pending_samples_.data() + pending_; }
  void AddBlock(size_t frames);

  void Flush();

  size_t available() const { return samples_.size() - start_; }
  size_t total_read() const { return total_read_; }
  // Reads the next samples, at most `count`.
  std::vector<float> Read(size_t count);

 private:
  void Resample();
  void Grow();

  const int sample_rate_;
  const size_t max_samples_;
  const double max_seconds_;
  std::vector<float> samples_;  // from start_ on
  size_t start_ = 0;
  size_t total_read_ = 0;
  std::vector<float> pending_samples_;  // the first pending_ are not resampled yet
  size_t pending_ = 0;
  std::optional<Resampler> resampler_;
  int rate_ = 0;
};

}  // namespace undertone
