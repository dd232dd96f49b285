#pragma once

#include <vector>

#include "dsp/features.h"

namespace undertone {

// win_length weights; a periodic window divides the phase by win_length, a symmetric one by win_length - 1.
std::vector<float> MakeWindow(const FeatureSpec& spec);

}  // namespace undertone
