#include "dsp/frame_kernels.h"

#include <cstdint>
#include <cstdlib>

#include "dsp/fft.h"
#include "dsp/simd.h"

namespace undertone {
namespace UNDERTONE_LANES_NAMESPACE {
namespace {

using Lane = undertone_lanes;  // one value per frame of the block

inline Lane Power(const Lane* spectrum, int k) {
  return spectrum[2 * k] * spectrum[2 * k] + spectrum[2 * k + 1] * spectrum[2 * k + 1];
}

// The frame loop of Extractor.

struct FrameState {
  FramePlan plan;
  Fft* fft;
  Lane* frames;  // [n_fft], then their spectrum, [n_fft / 2 + 1] pairs, then its power
  Lane* mel;     // [n_mels], rounded up to 4
  Lane* mfcc;    // [n_mfcc], rounded up to 4, plus 4: never empty
};

void LoadFrames(const FramePlan& plan, const float* samples, Lane* frames) {
  const size_t length = static_cast<size_t>(plan.win_length);
  const size_t hop_length = static_cast<size_t>(plan.hop_length);
  size_t i = 0;
  for (; i + 4 <= length; i += 4) LoadFour(samples + i, hop_length, frames + i);
  for (; i < length; ++i) frames[i] = LoadOne(samples + i, hop_length);
}

void RemoveMean(const FramePlan& plan, Lane* frames) {
  Lane sum[4] = {};
  for (int i = 0; i < plan.win_length; ++i) sum[i & 3] += frames[i];
  const Lane mean = (sum[0] + sum[1] + sum[2] + sum[3]) * (1.0f / static_cast<float>(plan.win_length));
  for (int i = 0; i < plan.win_length; ++i) frames[i] -= mean;
}

Lane LogEnergy(const FramePlan& plan, const Lane* frames) {
  Lane sum[4] = {};
  for (int i = 0; i < plan.win_length; ++i) sum[i & 3] += frames[i] * frames[i];
  const Lane energy = Max(sum[0] + sum[1] + sum[2] + sum[3], undertone_broadcast(plan.log_floor));
  return Log(energy) * plan.log_gain;
}

void EmphasizeAndWindow(const FramePlan& plan, Lane* frames) {
  Lane previous = frames[0];
  for (int i = 0; i < plan.win_length; ++i) {
    const Lane current = frames[i];
    frames[i] = (current - previous * plan.preemphasis) * plan.window[i];
    previous = current;
  }
}

// Returns the raw log energy where the plan has it.
Lane WindowFrame(const FramePlan& plan, const float* samples, Lane* frames) {
  Lane energy = {};
  if (!plan.remove_dc && plan.preemphasis == 0.0f && !plan.energy) {
    LoadWindowed(samples, static_cast<size_t>(plan.hop_length), plan.window,
                 static_cast<size_t>(plan.win_length), frames);
    return energy;
  }
  LoadFrames(plan, samples, frames);
  if (plan.remove_dc) RemoveMean(plan, frames);
  if (plan.energy) energy = LogEnergy(plan, frames);
  EmphasizeAndWindow(plan, frames);
  return energy;
}

void PowerSpectrum(const FramePlan& plan, const Lane* spectrum, Lane* power) {
  const int n_bins = plan.n_fft / 2 + 1;
  for (int k = 0; k < n_bins; ++k) {
    power[k] = Power(spectrum, k);
  }
  if (!plan.magnitude) return;
  for (int k = 0; k < n_bins; ++k) power[k] = SquareRoot(power[k]);
}

// Prefetches the input and output of the next block, a part per mel filter: all at once would block the loads
// of this block. The last block prefetches past the arrays, which is allowed.
struct Prefetcher {
  Prefetcher(const FramePlan& plan, const float* samples, const float* rows, size_t stride)
      : next_samples(reinterpret_cast<uintptr_t>(samples)), next_rows(reinterpret_cast<uintptr_t>(rows)) {
    const size_t advance = sizeof(float) * UNDERTONE_LANES * static_cast<size_t>(plan.hop_length);
    const size_t n_mels = static_cast<size_t>(plan.n_mels);
    next_samples += advance + sizeof(float) * static_cast<size_t>(plan.win_length);
    next_rows += sizeof(float) * UNDERTONE_LANES * stride;
    sample_step = advance / n_mels;
    row_step = sizeof(float) * UNDERTONE_LANES * stride / n_mels;
  }

  void Prefetch() {
    for (size_t i = 0; i < sample_step; i += 64)
      __builtin_prefetch(reinterpret_cast<void*>(next_samples + i));
    next_samples += sample_step;
    for (size_t i = 0; i < row_step; i += 64) __builtin_prefetch(reinterpret_cast<void*>(next_rows + i), 1);
    next_rows += row_step;
  }

  uintptr_t next_samples;
  uintptr_t next_rows;
  size_t sample_step;  // bytes per filter
  size_t row_step;
};

void LogMel(const FramePlan& plan, const Lane* power, Prefetcher prefetcher, Lane* mel) {
  const float* weights = plan.mel_weights;
  const Lane floor = undertone_broadcast(plan.log_floor);
  const float gain = plan.log_gain * plan.scale;
  const float shift = plan.offset * plan.scale;
  for (int m = 0; m < plan.n_mels; ++m) {
    const Lane* bin = power + plan.mel_first[m];
    Lane sum = {};
    prefetcher.Prefetch();
    for (int k = 0; k < plan.mel_count[m]; ++k) sum += bin[k] * *weights++;
    const Lane power_sum = Max(sum, floor);
    mel[m] = (plan.logarithm ? Log(power_sum) : power_sum) * gain + shift;
  }
}

void Dct(const FramePlan& plan, const Lane* mel, Lane* mfcc) {
  const float* row = plan.dct;
  for (int c = 0; c < plan.n_mfcc; ++c, row += plan.n_mels) {
    Lane even = {};
    Lane odd = {};
    int m = 0;
    for (; m + 1 < plan.n_mels; m += 2) {
      even += mel[m] * row[m];
      odd += mel[m + 1] * row[m + 1];
    }
    if (m < plan.n_mels) even += mel[m] * row[m];
    mfcc[c] = even + odd;
  }
}

void DestroyFrames(void* opaque) {
  FrameState* state = static_cast<FrameState*>(opaque);
  if (state == nullptr) return;
  if (state->fft != nullptr) DestroyFft(state->fft);
  std::free(state->frames);
  std::free(state->mel);
  std::free(state->mfcc);
  std::free(state);
}

void* CreateFrames(const FramePlan& plan) {
  FrameState* state = static_cast<FrameState*>(std::calloc(1, sizeof(FrameState)));
  if (state == nullptr) return nullptr;
  state->plan = plan;
  state->fft = CreateFft(plan.n_fft);
  state->frames = AllocateZeroed(static_cast<size_t>(plan.n_fft) + 2);
  state->mel = AllocateZeroed(RoundUpToFour(static_cast<size_t>(plan.n_mels)));
  state->mfcc = AllocateZeroed(RoundUpToFour(static_cast<size_t>(plan.n_mfcc)) + 4);
  if (state->fft && state->frames && state->mel && state->mfcc) return state;
  DestroyFrames(state);
  return nullptr;
}

void RunFrames(void* opaque, const float* samples, float* rows, size_t stride) {
  FrameState* state = static_cast<FrameState*>(opaque);
  const FramePlan& plan = state->plan;
  const Lane energy = WindowFrame(plan, samples, state->frames);
  for (int i = plan.win_length; i < plan.n_fft; ++i) state->frames[i] = Lane{};
  // One array for samples, spectrum and power leaves more of the L1 cache to the transform. Each is read
  // before the next one overwrites it.
  RunFft(state->fft, state->frames, state->frames);
  PowerSpectrum(plan, state->frames, state->frames);
  LogMel(plan, state->frames, Prefetcher(plan, samples, rows, stride), state->mel);
  Lane* columns = state->mel;
  int count = plan.n_mels;
  if (plan.n_mfcc > 0) {
    Dct(plan, state->mel, state->mfcc);
    columns = state->mfcc;
    count = plan.n_mfcc;
    if (plan.energy) columns[0] = energy;
  }
  for (int c = 0; c < count; c += 4) StoreFour(columns + c, rows + c, stride);
}

// The frame loop of ProsodyTracker.

struct ProsodyState {
  ProsodyPlan plan;
  Fft* fft;
  Lane* frames;    // [n_fft]: samples, then the whole power spectrum
  Lane* spectrum;  // [n_fft / 2 + 1] pairs
};

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

void DestroyProsody(void* opaque) {
  ProsodyState* state = static_cast<ProsodyState*>(opaque);
  if (state == nullptr) return;
  if (state->fft != nullptr) DestroyFft(state->fft);
  std::free(state->frames);
  std::free(state->spectrum);
  std::free(state);
}

void* CreateProsody(const ProsodyPlan& plan) {
  ProsodyState* state = static_cast<ProsodyState*>(std::calloc(1, sizeof(ProsodyState)));
  if (state == nullptr) return nullptr;
  state->plan = plan;
  state->fft = CreateFft(plan.n_fft);
  state->frames = AllocateZeroed(static_cast<size_t>(plan.n_fft));
  state->spectrum = AllocateZeroed(static_cast<size_t>(plan.n_fft) + 2);
  if (state->fft && state->frames && state->spectrum) return state;
  DestroyProsody(state);
  return nullptr;
}

void RunProsody(void* opaque, const float* samples, float* rows) {
  ProsodyState* state = static_cast<ProsodyState*>(opaque);
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

const FrameKernel kFrameKernel = {UNDERTONE_LANES, CreateFrames, DestroyFrames, RunFrames};
const ProsodyKernel kProsodyKernel = {UNDERTONE_LANES, CreateProsody, DestroyProsody, RunProsody};

}  // namespace UNDERTONE_LANES_NAMESPACE
}  // namespace undertone
