#include "dsp/mfcc.h"

#include <cmath>

namespace undertone {
namespace {

double Lifter(double q, int row) { return q > 0.0 ? 1.0 + 0.5 * q * std::sin(M_PI * row / q) : 1.0; }

}  // namespace

std::vector<float> MakeDctMatrix(const FeatureSpec& spec) {
  std::vector<float> rows;
  const int n_mels = spec.n_mels;
  for (int row = 0; row < spec.n_mfcc.value_or(0); ++row) {
    const double gain = std::sqrt((row == 0 ? 1.0 : 2.0) / n_mels) * Lifter(spec.lifter, row);
    for (int bin = 0; bin < n_mels; ++bin) {
      rows.push_back(static_cast<float>(gain * std::cos(M_PI / n_mels * (bin + 0.5) * row)));
    }
  }
  return rows;
}

}  // namespace undertone
