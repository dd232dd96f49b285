#include "analysis/prosody_kernel.h"

#include <cstdlib>

#include "dsp/fft.h"
#include "dsp/simd.h"

namespace undertone {
namespace UNDERTONE_LANES_NAMESPACE {
namespace {

using Lane = undertone_lanes;  // one value per frame of the block

struct State {
  ProsodyPlan plan;
  Fft* fft;
  Lane* frames;    // [n_fft]: samples, then the whole power spectrum
  Lane* spectrum;  // [n_fft / 2 + 1] pairs
};

inline Lane Power(const Lane* spectrum, int k) {
  return spectrum[2 * k] * spectrum[2 * k] + spectrum[2 * k + 1] * spectrum[2 * k + 1];
}

void MeasureBands(const ProsodyPlan& plan, const Lane* spectrum, Lane* bands) {
  for (int band = 0; band < kTiltBands; ++band) {
    Lane sum = {};
    for (int k = plan.band_first[band]; k <= plan.band_last[band]; ++k) sum += Power(spectrum, k);
    bands[band] = sum * (1.0f / static_cast<float>(plan.band_last[band] - plan.band_first[band] + 1));
  }
}

// A power spectrum is even: its transform is real, and the plan of the samples can be used.
void FillPower(const ProsodyPlan& plan, const Lane* spectrum, Lane* power) {
  const float scale = 1.0f / static_cast<float>(plan.n_fft);
  power[0] = Power(spectrum, 0) * (plan.gain[0] * scale);
  for (int k = 1; k < plan.gain_end; ++k) {
    power[k] = power[plan.n_fft - k] = Power(spectrum, k) * (plan.gain[k] * scale);
  }
  for (int k = plan.gain_end; k <= plan.n_fft - plan.gain_end; ++k) power[k] = Lane{};
}

void Destroy(void* opaque) {
  State* state = static_cast<State*>(opaque);
  if (state == nullptr) return;
  if (state->fft != nullptr) DestroyFft(state->fft);
  std::free(state->frames);
  std::free(state->spectrum);
  std::free(state);
}

void* Create(const ProsodyPlan& plan) {
  State* state = static_cast<State*>(std::calloc(1, sizeof(State)));
  if (state == nullptr) return nullptr;
  state->plan = plan;
  state->fft = CreateFft(plan.n_fft);
  state->frames = AllocateZeroed(static_cast<size_t>(plan.n_fft));
  state->spectrum = AllocateZeroed(static_cast<size_t>(plan.n_fft) + 2);
  if (state->fft && state->frames && state->spectrum) return state;
  Destroy(state);
  return nullptr;
}

void Run(void* opaque, const float* samples, float* rows) {
  State* state = static_cast<State*>(opaque);
  const ProsodyPlan& plan = state->plan;
  const size_t stride = static_cast<size_t>(kAutocorrelationColumn + plan.lags);
  const size_t hop_length = static_cast<size_t>(plan.hop_length);
  LoadWindowed(samples, hop_length, plan.window, static_cast<size_t>(plan.win_length), state->frames);
  for (int i = plan.win_length; i < plan.n_fft; ++i) state->frames[i] = Lane{};
  RunFft(state->fft, state->frames, state->spectrum);
  Lane bands[kAutocorrelationColumn] = {};
  MeasureBands(plan, state->spectrum, bands);
  for (size_t c = 0; c < kAutocorrelationColumn; c += 4) StoreFour(bands + c, rows + c, stride);
  FillPower(plan, state->spectrum, state->frames);
  RunFft(state->fft, state->frames, state->spectrum);
  rows += kAutocorrelationColumn;
  for (size_t lag = 0; lag < static_cast<size_t>(plan.lags); lag += 4) {
    Lane real[4];
    for (size_t k = 0; k < 4; ++k) real[k] = state->spectrum[2 * (lag + k)];
    StoreFour(real, rows + lag, stride);
  }
}

}  // namespace

const ProsodyKernel kProsodyKernel = {UNDERTONE_LANES, Create, Destroy, Run};

}  // namespace UNDERTONE_LANES_NAMESPACE
}  // namespace undertone
