#include "dsp/highpass.h"

#include <cmath>
#include <iterator>

namespace undertone {
namespace {

// The analog low-pass of order 5 with a ripple of 0.1 dB, 46 dB of attenuation and the edge 1
// (scipy.signal.ellipap(5, 0.1, 46)): its real pole, and two pairs of poles, each with the frequency of zeros.
constexpr double kRealPole = -0.6363617834;
struct Pair {
  double real, imaginary, zero;
};
constexpr Pair kFirstPair = {-0.4201163385, 0.7639512958, 2.4618562820};
constexpr Pair kSecondPair = {-0.1192596715, 1.0677951612, 1.6306781596};

// States decay in silence. Below this value they become 0: subnormal numbers slow filters down a hundredfold.
constexpr double kSettled = 1e-20;

}  // namespace

// Each section is that of the low-pass at the inverse frequency (s -> cutoff / s), then the bilinear transform
// with the cutoff prewarped. High frequencies have a gain of 1.
Highpass::Highpass(int rate, double cutoff_hz) {
  const double cutoff = std::tan(M_PI * cutoff_hz / rate);
  const double pole = -cutoff / kRealPole;
  gain_ = 1 / (1 + pole);
  first_feedback_ = (pole - 1) / (1 + pole);
  const auto design = [&](const Pair& pair) -> Section {
    const double square = pair.real * pair.real + pair.imaginary * pair.imaginary;
    const double zeros = cutoff * cutoff / (pair.zero * pair.zero);
    const double damping = -2 * pair.real * cutoff / square;
    const double poles = cutoff * cutoff / square;
    const double scale = 1 / (1 + damping + poles);
    gain_ *= (1 + zeros) * scale;
    return {2 * (zeros - 1) / (1 + zeros), {2 * (poles - 1) * scale, (1 - damping + poles) * scale}};
  };
  second_ = design(kFirstPair);
  third_ = design(kSecondPair);
}

void Highpass::Settle(State* state) {
  double* const values[] = {state->first, state->second, state->output};
  const auto is_settled = [](const double* last) {
    return std::fabs(last[0]) < kSettled && std::fabs(last[1]) < kSettled;
  };
  if (!std::all_of(std::begin(values), std::end(values), is_settled)) return;
  for (double* last : values) last[0] = last[1] = 0;
}

}  // namespace undertone
