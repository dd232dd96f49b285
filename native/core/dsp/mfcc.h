#pragma once

#include <vector>

#include "dsp/features.h"

namespace undertone {

// Row-major [n_mfcc x n_mels]: orthonormal DCT-II (row 0 scaled by sqrt(1/N), the others by sqrt(2/N); scipy
// norm="ortho", Kaldi), row i times Kaldi's lifter 1 + Q/2 sin(pi i / Q). Empty without n_mfcc.
std::vector<float> MakeDctMatrix(const FeatureSpec& spec);

}  // namespace undertone
