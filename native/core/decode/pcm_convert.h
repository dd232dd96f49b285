#pragma once

#include <cstddef>
#include <cstdint>

namespace undertone {

// How one sample lies in memory; little-endian where it has several bytes.
enum class Encoding { kU8, kS16, kS24, kS32, kS64, kF32, kF64, kALaw, kMuLaw };

size_t SampleBytes(Encoding encoding);

// The largest value that `ToFloat` makes of finite integers; 1 for float.
float FullScale(Encoding encoding);

// Reads `count` samples that lie `stride` bytes apart, any alignment; full scale becomes 1.
void ToFloat(Encoding encoding, const uint8_t* from, size_t stride, size_t count, float* to);

}  // namespace undertone
