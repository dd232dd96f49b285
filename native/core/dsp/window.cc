#include "dsp/window.h"

#include <cmath>

namespace undertone {
namespace {

double WindowAt(Window window, double phase) {
  switch (window) {
    case Window::kHann:
      return 0.5 - 0.5 * std::cos(phase);
    case Window::kHamming:
      return 0.54 - 0.46 * std::cos(phase);
    case Window::kPovey:  // Kaldi: Hann to the power of 0.85
      return std::pow(0.5 - 0.5 * std::cos(phase), 0.85);
  }
  return 1.0;
}

}  // namespace

std::vector<float> MakeWindow(const FeatureSpec& spec) {
  const int divisor = spec.window_periodic ? spec.win_length : spec.win_length - 1;
  std::vector<float> window;
  for (int i = 0; i < spec.win_length; ++i) {
    window.push_back(static_cast<float>(WindowAt(spec.window, 2.0 * M_PI * i / divisor)));
  }
  return window;
}

}  // namespace undertone
