#pragma once

#include <vector>

#include "dsp/features.h"

namespace undertone {

// Sparse triangular filters: filter m weights spectrum bins [first[m], first[m] + count[m]) with the next
// count[m] entries of `weights`.
struct MelFilters {
  std::vector<int> first;
  std::vector<int> count;
  std::vector<float> weights;
};

double HzToMel(double hz, MelScale scale);
double MelToHz(double mel, MelScale scale);

MelFilters MakeMelFilters(const FeatureSpec& spec);

}  // namespace undertone
