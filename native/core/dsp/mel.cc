#include "dsp/mel.h"

#include <algorithm>
#include <cmath>

namespace undertone {
namespace {

// Slaney's Auditory Toolbox: linear below 1 kHz, 27 steps per factor of 6.4 above.
constexpr double kSlaneyHzPerMel = 200.0 / 3.0;
constexpr double kSlaneyBreakHz = 1000.0;
constexpr double kSlaneyBreakMel = kSlaneyBreakHz / kSlaneyHzPerMel;

double SlaneyLogStep() { return std::log(6.4) / 27.0; }

// Triangle over left < centre < right, 0 outside.
double Triangle(double x, double left, double centre, double right) {
  return std::max(0.0, std::min((x - left) / (centre - left), (right - x) / (right - centre)));
}

std::vector<double> MelEdges(const FeatureSpec& spec) {
  const double low = HzToMel(spec.low_hz, spec.mel_scale);
  const double high = HzToMel(spec.high_hz, spec.mel_scale);
  std::vector<double> edges(static_cast<size_t>(spec.n_mels) + 2);
  for (size_t i = 0; i < edges.size(); ++i) {
    edges[i] = low + (high - low) * static_cast<double>(i) / (spec.n_mels + 1);
  }
  return edges;
}

}  // namespace

// HTK: 2595 log10(1 + f / 700), written with the natural logarithm as in Kaldi.
double HzToMel(double hz, MelScale scale) {
  if (scale == MelScale::kHtk) return 2595.0 / std::log(10.0) * std::log1p(hz / 700.0);
  if (hz < kSlaneyBreakHz) return hz / kSlaneyHzPerMel;
  return kSlaneyBreakMel + std::log(hz / kSlaneyBreakHz) / SlaneyLogStep();
}

double MelToHz(double mel, MelScale scale) {
  if (scale == MelScale::kHtk) return 700.0 * std::expm1(mel * std::log(10.0) / 2595.0);
  if (mel < kSlaneyBreakMel) return mel * kSlaneyHzPerMel;
  return kSlaneyBreakHz * std::exp((mel - kSlaneyBreakMel) * SlaneyLogStep());
}

MelFilters MakeMelFilters(const FeatureSpec& spec) {
  const std::vector<double> mel_edges = MelEdges(spec);
  const bool on_mel = spec.mel_triangles == MelTriangles::kMel;
  const int spectrum_bins = spec.n_fft / 2 + 1;
  MelFilters filters;
  for (size_t m = 0; m < static_cast<size_t>(spec.n_mels); ++m) {
    double edge[3];
    for (size_t i = 0; i < 3; ++i) {
      edge[i] = on_mel ? mel_edges[m + i] : MelToHz(mel_edges[m + i], spec.mel_scale);
    }
    const double norm = spec.mel_norm == MelNorm::kSlaney ? 2.0 / (edge[2] - edge[0]) : 1.0;
    int first = 0;
    int count = 0;
    for (int k = 0; k < spectrum_bins; ++k) {
      const double hz = static_cast<double>(k) * spec.sample_rate / spec.n_fft;
      const double x = on_mel ? HzToMel(hz, spec.mel_scale) : hz;
      const double weight = norm * Triangle(x, edge[0], edge[1], edge[2]);
      if (weight <= 0.0) continue;
      if (count++ == 0) first = k;
      filters.weights.push_back(static_cast<float>(weight));
    }
    filters.first.push_back(first);
    filters.count.push_back(count);
  }
  return filters;
}

}  // namespace undertone
