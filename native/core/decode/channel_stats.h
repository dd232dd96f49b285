#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace undertone {

// Counts samples that sit at full scale: members of runs of at least 3 in one channel.
class Clipping {
 public:
  // `full_scale` is the largest value the source's samples can hold.
  void Begin(int channels, float full_scale);
  // `peak` is Peak(samples, count).
  void Add(int channel, const float* samples, size_t count, float peak);
  double Ratio() const {
    return total_ == 0 ? 0 : static_cast<double>(clipped_) / static_cast<double>(total_);
  }

 private:
  float threshold_ = 1;
  std::vector<size_t> runs_;  // per channel, the length of the run in progress
  size_t clipped_ = 0;
  size_t total_ = 0;
};

// Pearson correlation of every channel with the first, as a stream.
class Correlation {
 public:
  void Begin(int channels);
  void Add(const float* const* planes, size_t count);
  // The lowest over channels and over everything before the last Begin; silent channels do not count.
  double Lowest() const;

 private:
  struct Sums {
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  };

  double Current() const;

  std::vector<Sums> sums_;  // one for each channel after the first
  double count_ = 0;
  double lowest_before_ = 1;
};

// Nothing beyond this many times full scale is a sample.
constexpr float kLargestSample = 65536.0F;

// The largest absolute value; with NaN among the samples, NaN or infinity.
float Peak(const float* samples, size_t count);

// Replaces what cannot be a sample by 0: NaN, infinities, beyond kLargestSample, and what lies below -300 dB
// (subnormal numbers would slow the filters down a hundredfold).
void Scrub(float* samples, size_t count);

}  // namespace undertone
