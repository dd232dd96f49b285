#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "dsp/lanes.h"

namespace undertone::fuzz {

// Reads choices from the front of the bytes and samples from the rest; zeros once they are used up.
class Input {
 public:
  Input(const uint8_t* bytes, size_t size) : at_(bytes), left_(size) {}

  template <typename T>
  T Raw() {
    T value{};
    const size_t count = left_ < sizeof value ? left_ : sizeof value;
    std::memcpy(&value, at_, count);
    at_ += count;
    left_ -= count;
    return value;
  }

  int Below(int limit) { return Raw<uint16_t>() % limit; }
  bool Flag() { return (Raw<uint8_t>() & 1) != 0; }

  Lanes PickLanes() {
    static constexpr Lanes kWidths[] = {Lanes::kAuto, Lanes::kScalar, Lanes::kFour, Lanes::kEight,
                                        Lanes::kSixteen};
    const Lanes lanes = kWidths[Below(5)];
    return LanesSupported(lanes) ? lanes : Lanes::kAuto;
  }

  // In [-1, 1], 16 bits each.
  std::vector<float> Samples() {
    std::vector<float> samples;
    while (left_ >= sizeof(int16_t)) samples.push_back(static_cast<float>(Raw<int16_t>()) / 32768.0F);
    return samples;
  }

  // Any 32 bits.
  std::vector<float> Floats() {
    std::vector<float> samples;
    while (left_ >= sizeof(float)) samples.push_back(Raw<float>());
    return samples;
  }

 private:
  const uint8_t* at_;
  size_t left_;
};

inline bool AllFinite(const std::vector<float>& values) {
  for (const float value : values) {
    if (!std::isfinite(value)) return false;
  }
  return true;
}

}  // namespace undertone::fuzz
