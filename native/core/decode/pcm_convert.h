#pragma once

#include <cstddef>
#include <cstdint>

namespace undertone {

// Little-endian where a sample has several bytes.
enum class SampleFormat { kU8, kS16, kS24, kS32, kS64, kF32, kF64, kALaw, kMuLaw };

size_t BytesPerSample(SampleFormat format);

// The largest value after conversion to float.
float FullScale(SampleFormat format);

// Converts `count` samples `stride` bytes apart, of any alignment, to full scale 1.
void ConvertToFloat(SampleFormat format, const uint8_t* from, size_t stride, size_t count, float* to);

}  // namespace undertone
