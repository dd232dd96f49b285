#pragma once

#include <vector>

#include "dsp/features.h"

namespace undertone {

// frame_length coefficients; periodic divides by the length, symmetric by length - 1.
std::vector<float> MakeWindow(const FeatureSpec& spec);

}  // namespace undertone
