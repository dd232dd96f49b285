#pragma once

// Conversion, cleaning and statistics of blocks of samples.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace undertone {

// Little-endian where a sample has several bytes.
enum class SampleFormat { kU8, kS16, kS24, kS32, kS64, kF32, kF64, kALaw, kMuLaw };

size_t BytesPerSample(SampleFormat format);

// The largest value after conversion to float.
float FullScale(SampleFormat format);

// Converts `count` samples `stride` bytes apart, of any alignment, to full scale 1.
void ConvertToFloat(SampleFormat format, const uint8_t* from, size_t stride, size_t count, float* to);

// Samples above this multiple of full scale are invalid.
constexpr float kMaxMagnitude = 65536.0F;

// The largest absolute value; NaN if any sample is NaN, else infinity if any is infinite.
float Peak(const float* samples, size_t count);

// Replaces by 0: NaN, infinities, values above kMaxMagnitude and below -300 dB (subnormal numbers slow
// filters down a hundredfold).
void SanitizeSamples(float* samples, size_t count);

// Counts samples at the highest value, of one sign, of a channel: what was limited before the file was written has
// many of them, and few that are a little lower.
class FlatPeaks {
 public:
  // `value`: the sample times the sign.
  void Add(float value);
  // Whether the next values can change anything.
  bool IsReached(float peak) const { return peak >= kNear * peak_; }
  // Samples in runs of at least 3 at the peak; 0 unless these are more than those near it.
  size_t Clipped() const { return peak_ > kMinPeak && at_peak_ > near_ ? at_peak_ : 0; }

 private:
  static constexpr float kNear = 0.9F;
  // Quieter recordings have few values: many samples share the highest.
  static constexpr float kMinPeak = 0.05F;

  float peak_ = 0;
  size_t run_ = 0;
  size_t at_peak_ = 0;
  size_t near_ = 0;
};

// Counts clipped samples: runs of at least 3 in one channel at full scale, or at a lower limit of all of it.
class Clipping {
 public:
  // `full_scale`: the largest value of the source's sample format.
  void Reset(int channels, float full_scale);
  // `peak`: Peak(samples, count).
  void Add(int channel, const float* samples, size_t count, float peak);
  double Ratio() const;

 private:
  float threshold_ = 1;
  std::vector<size_t> runs_;  // length of the current run per channel
  std::vector<FlatPeaks> high_, low_;  // per channel
  size_t clipped_ = 0;
  size_t total_ = 0;
};

// Streaming Pearson correlation of each channel with the first.
class Correlation {
 public:
  void Reset(int channels);
  void Add(const float* const* planes, size_t count);
  // The lowest over all channels and resets so far. Silent channels do not count.
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

}  // namespace undertone
