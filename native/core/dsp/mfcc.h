#pragma once

#include <vector>

#include "dsp/features.h"

namespace undertone {

// Row-major [coefficients x bins]: orthonormal DCT-II (row 0 scaled by sqrt(1/N), the others by sqrt(2/N);
// scipy norm="ortho", Kaldi), each row times Kaldi's lifter 1 + Q/2 sin(pi i / Q). Empty when the spec asks
// for no MFCC.
std::vector<float> MakeCepstrum(const FeatureSpec& spec);

}  // namespace undertone
