#pragma once

#include <cstddef>

namespace undertone {

// Writes the mean square of each of `count` hops of `length` samples, and how many of its samples are at full scale.
void MeasureHops(const float* samples, size_t length, size_t count, float* power, float* clipped);

// Mean position weighted by energy, in samples (MPEG-7 TemporalCentroid, without an envelope); the middle of silence.
size_t TemporalCentroid(const float* samples, size_t count);

}  // namespace undertone
