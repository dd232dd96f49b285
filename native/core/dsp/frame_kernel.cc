#include "dsp/frame_kernel.h"

#include <cstdint>
#include <cstdlib>

#include "dsp/aligned_buffer.h"
#include "dsp/fft.h"
#include "dsp/log.h"
#include "dsp/transpose.h"

namespace undertone {
namespace UNDERTONE_LANES_NAMESPACE {
namespace {

using Lane = undertone_lanes;  // one value of every frame of the block

struct State {
  KernelPlan plan;
  Fft* fft;
  Lane* frames;    // [fft_length], then their spectrum, [fft_length / 2 + 1] pairs, then its power
  Lane* mel;       // [bins], rounded up to 4
  Lane* cepstrum;  // [coefficients], rounded up to 4
};

size_t RoundUp(int count) { return (static_cast<size_t>(count) + 3) / 4 * 4; }

inline Lane Max(Lane x, Lane y) { return x > y ? x : y; }

#if UNDERTONE_LANES > 1
inline Lane SquareRoot(Lane x) { return UNDERTONE_MM(sqrt_ps)(x); }
#else
inline Lane SquareRoot(Lane x) { return __builtin_sqrtf(x); }
#endif

void LoadWindowed(const KernelPlan& plan, const float* samples, Lane* frames) {
  const size_t length = static_cast<size_t>(plan.frame_length);
  const size_t hop = static_cast<size_t>(plan.hop);
  size_t i = 0;
  for (; i + 4 <= length; i += 4) {
    LoadFour(samples + i, hop, frames + i);
    for (size_t k = 0; k < 4; ++k) frames[i + k] *= plan.window[i + k];
  }
  for (; i < length; ++i) frames[i] = LoadOne(samples + i, hop) * plan.window[i];
}

void LoadPlain(const KernelPlan& plan, const float* samples, Lane* frames) {
  const size_t length = static_cast<size_t>(plan.frame_length);
  const size_t hop = static_cast<size_t>(plan.hop);
  size_t i = 0;
  for (; i + 4 <= length; i += 4) LoadFour(samples + i, hop, frames + i);
  for (; i < length; ++i) frames[i] = LoadOne(samples + i, hop);
}

void RemoveMean(const KernelPlan& plan, Lane* frames) {
  Lane sum[4] = {};
  for (int i = 0; i < plan.frame_length; ++i) sum[i & 3] += frames[i];
  const Lane mean = (sum[0] + sum[1] + sum[2] + sum[3]) * (1.0f / static_cast<float>(plan.frame_length));
  for (int i = 0; i < plan.frame_length; ++i) frames[i] -= mean;
}

Lane LogEnergy(const KernelPlan& plan, const Lane* frames) {
  Lane sum[4] = {};
  for (int i = 0; i < plan.frame_length; ++i) sum[i & 3] += frames[i] * frames[i];
  const Lane energy = Max(sum[0] + sum[1] + sum[2] + sum[3], undertone_broadcast(plan.log_floor));
  return Log(energy) * plan.log_gain;
}

void EmphasizeAndWindow(const KernelPlan& plan, Lane* frames) {
  Lane previous = frames[0];
  for (int i = 0; i < plan.frame_length; ++i) {
    const Lane current = frames[i];
    frames[i] = (current - previous * plan.preemphasis) * plan.window[i];
    previous = current;
  }
}

// Returns the raw log energy when the plan asks for it.
Lane Prepare(const KernelPlan& plan, const float* samples, Lane* frames) {
  Lane energy = {};
  if (!plan.remove_dc && plan.preemphasis == 0.0f && !plan.energy) {
    LoadWindowed(plan, samples, frames);
    return energy;
  }
  LoadPlain(plan, samples, frames);
  if (plan.remove_dc) RemoveMean(plan, frames);
  if (plan.energy) energy = LogEnergy(plan, frames);
  EmphasizeAndWindow(plan, frames);
  return energy;
}

void Square(const KernelPlan& plan, const Lane* spectrum, Lane* power) {
  const int bins = plan.fft_length / 2 + 1;
  for (int k = 0; k < bins; ++k) {
    power[k] = spectrum[2 * k] * spectrum[2 * k] + spectrum[2 * k + 1] * spectrum[2 * k + 1];
  }
  if (!plan.magnitude) return;
  for (int k = 0; k < bins; ++k) power[k] = SquareRoot(power[k]);
}

// Where the next block will read and write. Long recordings come from memory, faster when asked for ahead of
// time, and a little with every filter: all at once would block the loads of this block. The last block
// points past the arrays, which a prefetch may.
struct Ahead {
  Ahead(const KernelPlan& plan, const float* samples, const float* rows, size_t stride)
      : next_samples(reinterpret_cast<uintptr_t>(samples)), next_rows(reinterpret_cast<uintptr_t>(rows)) {
    const size_t advance = sizeof(float) * UNDERTONE_LANES * static_cast<size_t>(plan.hop);
    const size_t bins = static_cast<size_t>(plan.bins);
    next_samples += advance + sizeof(float) * static_cast<size_t>(plan.frame_length);
    next_rows += sizeof(float) * UNDERTONE_LANES * stride;
    sample_step = advance / bins;
    row_step = sizeof(float) * UNDERTONE_LANES * stride / bins;
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
  size_t sample_step;  // bytes a filter
  size_t row_step;
};

void FilterAndLog(const KernelPlan& plan, const Lane* power, Ahead ahead, Lane* mel) {
  const float* weights = plan.mel_weights;
  const Lane floor = undertone_broadcast(plan.log_floor);
  const float gain = plan.log_gain * plan.scale;
  const float shift = plan.offset * plan.scale;
  for (int m = 0; m < plan.bins; ++m) {
    const Lane* bin = power + plan.mel_first[m];
    Lane sum = {};
    ahead.Prefetch();
    for (int k = 0; k < plan.mel_count[m]; ++k) sum += bin[k] * *weights++;
    mel[m] = Log(Max(sum, floor)) * gain + shift;
  }
}

void Cosine(const KernelPlan& plan, const Lane* mel, Lane* cepstrum) {
  const float* row = plan.cepstrum;
  for (int c = 0; c < plan.coefficients; ++c, row += plan.bins) {
    Lane even = {};
    Lane odd = {};
    int m = 0;
    for (; m + 1 < plan.bins; m += 2) {
      even += mel[m] * row[m];
      odd += mel[m + 1] * row[m + 1];
    }
    if (m < plan.bins) even += mel[m] * row[m];
    cepstrum[c] = even + odd;
  }
}

void Destroy(void* opaque) {
  State* state = static_cast<State*>(opaque);
  if (state == nullptr) return;
  if (state->fft != nullptr) DestroyFft(state->fft);
  std::free(state->frames);
  std::free(state->mel);
  std::free(state->cepstrum);
  std::free(state);
}

void* Create(const KernelPlan& plan) {
  State* state = static_cast<State*>(std::calloc(1, sizeof(State)));
  if (state == nullptr) return nullptr;
  state->plan = plan;
  state->fft = CreateFft(plan.fft_length);
  state->frames = Zeros(static_cast<size_t>(plan.fft_length) + 2);
  state->mel = Zeros(RoundUp(plan.bins));
  state->cepstrum = Zeros(RoundUp(plan.coefficients) + 4);
  if (state->fft && state->frames && state->mel && state->cepstrum) return state;
  Destroy(state);
  return nullptr;
}

void Run(void* opaque, const float* samples, float* rows, size_t stride) {
  State* state = static_cast<State*>(opaque);
  const KernelPlan& plan = state->plan;
  const Lane energy = Prepare(plan, samples, state->frames);
  for (int i = plan.frame_length; i < plan.fft_length; ++i) state->frames[i] = Lane{};
  // The samples have been read when the spectrum is written over them, and pair k when power[k] is: one array
  // in place of three leaves more of the first cache to the transform.
  RunFft(state->fft, state->frames, state->frames);
  Square(plan, state->frames, state->frames);
  FilterAndLog(plan, state->frames, Ahead(plan, samples, rows, stride), state->mel);
  Lane* columns = state->mel;
  int count = plan.bins;
  if (plan.coefficients > 0) {
    Cosine(plan, state->mel, state->cepstrum);
    columns = state->cepstrum;
    count = plan.coefficients;
    if (plan.energy) columns[0] = energy;
  }
  for (int c = 0; c < count; c += 4) StoreFour(columns + c, rows + c, stride);
}

}  // namespace

extern const Kernel kKernel;
const Kernel kKernel = {UNDERTONE_LANES, Create, Destroy, Run};

}  // namespace UNDERTONE_LANES_NAMESPACE
}  // namespace undertone
