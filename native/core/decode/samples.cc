#include "decode/samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

namespace undertone {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "samples are read without swapping bytes");

constexpr float kClippingLevel = 0.999F;
constexpr size_t kMinClippedRun = 3;
constexpr double kSilentVariance = 1e-10;  // -100 dB re full scale
constexpr size_t kLanes = 16;

// ITU-T G.711, 16-bit values.
constexpr int ALaw(int code) {
  code ^= 0x55;
  const int exponent = code >> 4 & 7;
  const int mantissa = (code & 15) << 4;
  const int level = exponent == 0 ? mantissa + 8 : (mantissa + 0x108) << (exponent - 1);
  return (code & 0x80) != 0 ? level : -level;
}

constexpr int MuLaw(int code) {
  code = ~code & 0xFF;
  const int level = ((((code & 15) << 3) + 0x84) << (code >> 4 & 7)) - 0x84;
  return (code & 0x80) != 0 ? -level : level;
}

template <int (*Law)(int)>
constexpr std::array<float, 256> Table() {
  std::array<float, 256> table{};
  for (int code = 0; code < 256; ++code)
    table[static_cast<size_t>(code)] = static_cast<float>(Law(code)) / 32768.0F;
  return table;
}

constexpr std::array<float, 256> kALawTable = Table<ALaw>();
constexpr std::array<float, 256> kMuLawTable = Table<MuLaw>();

template <typename T>
T Load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Two's complement.
template <typename T>
float FromInteger(const uint8_t* from) {
  return static_cast<float>(Load<T>(from)) / (static_cast<float>(std::numeric_limits<T>::max() / 2 + 1) * 2);
}

float FromS24(const uint8_t* from) {
  const uint32_t bits = uint32_t{from[0]} << 8 | uint32_t{from[1]} << 16 | uint32_t{from[2]} << 24;
  return static_cast<float>(static_cast<int32_t>(bits)) * 0x1p-31F;
}

// The compiler vectorizes the constant strides of mono and stereo.
template <size_t Bytes, typename Read>
void ConvertEach(const uint8_t* from, size_t stride, size_t count, float* to, Read read) {
  if (stride == Bytes) {
    for (size_t i = 0; i < count; ++i) to[i] = read(from + i * Bytes);
  } else if (stride == 2 * Bytes) {
    for (size_t i = 0; i < count; ++i) to[i] = read(from + i * 2 * Bytes);
  } else {
    for (size_t i = 0; i < count; ++i) to[i] = read(from + i * stride);
  }
}

int32_t Bits(float sample) {
  int32_t bits;
  std::memcpy(&bits, &sample, sizeof bits);
  return bits;
}

}  // namespace

size_t BytesPerSample(SampleFormat format) {
  static constexpr size_t kBytes[] = {1, 2, 3, 4, 8, 4, 8, 1, 1};
  static_assert(std::size(kBytes) == static_cast<size_t>(SampleFormat::kMuLaw) + 1);
  return kBytes[static_cast<size_t>(format)];
}

float FullScale(SampleFormat format) {
  switch (format) {
    case SampleFormat::kU8:
      return 127.0F / 128.0F;
    case SampleFormat::kALaw:
      return 32256.0F / 32768.0F;
    case SampleFormat::kMuLaw:
      return 32124.0F / 32768.0F;
    default:
      return 1;
  }
}

void ConvertToFloat(SampleFormat format, const uint8_t* from, size_t stride, size_t count, float* to) {
  switch (format) {
    case SampleFormat::kU8:
      ConvertEach<1>(from, stride, count, to,
                     [](const uint8_t* p) { return static_cast<float>(*p - 128) * 0x1p-7F; });
      break;
    case SampleFormat::kS16:
      ConvertEach<2>(from, stride, count, to, FromInteger<int16_t>);
      break;
    case SampleFormat::kS24:
      ConvertEach<3>(from, stride, count, to, FromS24);
      break;
    case SampleFormat::kS32:
      ConvertEach<4>(from, stride, count, to, FromInteger<int32_t>);
      break;
    case SampleFormat::kS64:
      ConvertEach<8>(from, stride, count, to, FromInteger<int64_t>);
      break;
    case SampleFormat::kF32:
      ConvertEach<4>(from, stride, count, to, Load<float>);
      break;
    case SampleFormat::kF64:
      ConvertEach<8>(from, stride, count, to,
                     [](const uint8_t* p) { return static_cast<float>(Load<double>(p)); });
      break;
    case SampleFormat::kALaw:
      ConvertEach<1>(from, stride, count, to, [](const uint8_t* p) { return kALawTable[*p]; });
      break;
    case SampleFormat::kMuLaw:
      ConvertEach<1>(from, stride, count, to, [](const uint8_t* p) { return kMuLawTable[*p]; });
      break;
  }
}

// Magnitudes of floats compare like their bits, with NaN above all others.
float Peak(const float* samples, size_t count) {
  int32_t peaks[kLanes] = {};
  const auto magnitude = [samples](size_t i) { return Bits(samples[i]) & 0x7FFFFFFF; };
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) peaks[lane] = std::max(peaks[lane], magnitude(i + lane));
  }
  for (; i < count; ++i) peaks[0] = std::max(peaks[0], magnitude(i));
  const int32_t bits = *std::max_element(peaks, peaks + kLanes);
  float peak;
  std::memcpy(&peak, &bits, sizeof peak);
  return peak;
}

// Compares bits: the compiler vectorizes these, but not comparisons of floats.
void SanitizeSamples(float* samples, size_t count) {
  const int32_t smallest = Bits(1e-15F);
  const int32_t largest = Bits(kMaxMagnitude);
  for (size_t i = 0; i < count; ++i) {
    const int32_t bits = Bits(samples[i]);
    const int32_t magnitude = bits & 0x7FFFFFFF;
    const auto valid = static_cast<int32_t>((magnitude >= smallest) & (magnitude <= largest));
    const int32_t kept = bits & -valid;
    std::memcpy(samples + i, &kept, sizeof kept);
  }
}

void Clipping::Reset(int channels, float full_scale) {
  threshold_ = kClippingLevel * full_scale;
  runs_.assign(static_cast<size_t>(channels), 0);
  high_.resize(static_cast<size_t>(channels));
  low_.resize(static_cast<size_t>(channels));
}

double Clipping::Ratio() const {
  size_t limited = 0;
  for (const auto* peaks : {&high_, &low_}) {
    for (const FlatPeaks& peak : *peaks) limited += peak.Clipped();
  }
  return total_ == 0 ? 0 : static_cast<double>(std::max(clipped_, limited)) / static_cast<double>(total_);
}

void FlatPeaks::Add(float value) {
  if (value > peak_) {
    // Within the rounding of the limit itself, the peak is the same.
    if (value * kClippingLevel > peak_) run_ = at_peak_ = near_ = 0;
    peak_ = value;
  }
  if (value < kClippingLevel * peak_) {
    run_ = 0;
    near_ += value >= kNear * peak_;
  } else if (++run_ >= kMinClippedRun) {
    at_peak_ += run_ == kMinClippedRun ? kMinClippedRun : 1;
  }
}

void Clipping::Add(int channel, const float* samples, size_t count, float peak) {
  total_ += count;
  const auto index = static_cast<size_t>(channel);
  if (high_[index].IsReached(peak) || low_[index].IsReached(peak)) {
    for (size_t i = 0; i < count; ++i) {
      high_[index].Add(samples[i]);
      low_[index].Add(-samples[i]);
    }
  }
  size_t& run = runs_[index];
  if (run == 0 && peak < threshold_) return;
  for (size_t i = 0; i < count; ++i) {
    if (std::fabs(samples[i]) < threshold_) {
      run = 0;
    } else if (++run >= kMinClippedRun) {
      clipped_ += run == kMinClippedRun ? kMinClippedRun : 1;
    }
  }
}

void Correlation::Reset(int channels) {
  lowest_before_ = Lowest();
  sums_.assign(static_cast<size_t>(channels > 0 ? channels - 1 : 0), Sums{});
  count_ = 0;
}

void Correlation::Add(const float* const* planes, size_t count) {
  count_ += static_cast<double>(count);
  for (size_t channel = 0; channel < sums_.size(); ++channel) {
    const float* x = planes[0];
    const float* y = planes[channel + 1];
    std::array<float, kLanes> sx{}, sy{}, sxx{}, syy{}, sxy{};
    size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const float a = x[i + lane];
        const float b = y[i + lane];
        sx[lane] += a;
        sy[lane] += b;
        sxx[lane] += a * a;
        syy[lane] += b * b;
        sxy[lane] += a * b;
      }
    }
    Sums& sums = sums_[channel];
    for (size_t lane = 0; lane < kLanes; ++lane) {
      sums.x += sx[lane];
      sums.y += sy[lane];
      sums.xx += sxx[lane];
      sums.yy += syy[lane];
      sums.xy += sxy[lane];
    }
    for (; i < count; ++i) {
      const double a = x[i];
      const double b = y[i];
      sums.x += a;
      sums.y += b;
      sums.xx += a * a;
      sums.yy += b * b;
      sums.xy += a * b;
    }
  }
}

double Correlation::Current() const {
  double lowest = 1;
  for (const Sums& sums : sums_) {
    const double mean_x = sums.x / count_;
    const double mean_y = sums.y / count_;
    const double variance_x = sums.xx / count_ - mean_x * mean_x;
    const double variance_y = sums.yy / count_ - mean_y * mean_y;
    if (!(variance_x > kSilentVariance && variance_y > kSilentVariance)) continue;
    const double covariance = sums.xy / count_ - mean_x * mean_y;
    lowest = std::min(lowest, std::clamp(covariance / std::sqrt(variance_x * variance_y), -1.0, 1.0));
  }
  return lowest;
}

double Correlation::Lowest() const {
  return count_ > 0 ? std::min(lowest_before_, Current()) : lowest_before_;
}

}  // namespace undertone
