#include "dsp/features.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>

#include "dsp/frame_kernels.h"
#include "dsp/highpass.h"
#include "dsp/lanes.h"

namespace undertone {
namespace {

int64_t Mirror(int64_t index, int64_t n, bool repeat_edge) {
  const int64_t period = repeat_edge ? 2 * n : 2 * (n - 1);
  if (period == 0) return 0;
  int64_t folded = index % period;
  if (folded < 0) folded += period;
  if (folded < n) return folded;
  return repeat_edge ? period - 1 - folded : period - folded;
}

// Copies samples [begin, begin + length) with reflection at both ends. kReflectCenter does not repeat the
// edge sample (numpy "reflect"), kSnipEdgesFalse does (numpy "symmetric").
void CopyMirrored(const float* samples, size_t n, Padding padding, int64_t begin, size_t length, float* out) {
  const int64_t count = static_cast<int64_t>(n);
  const bool repeat_edge = padding == Padding::kSnipEdgesFalse;
  for (size_t i = 0; i < length; ++i) {
    out[i] = samples[Mirror(begin + static_cast<int64_t>(i), count, repeat_edge)];
  }
}

// Empty for a spec without a high-pass.
std::vector<float> Filter(const FeatureSpec& spec, const float* samples, size_t n) {
  if (!spec.highpass_hz) return {};
  std::vector<float> result(n);
  Highpass::State state = {};
  const auto write = [&](size_t i, double filtered) { result[i] = static_cast<float>(filtered); };
  Highpass(spec.sample_rate, *spec.highpass_hz).Run(samples, n, &state, write);
  return result;
}

// 10 log10 of power, 20 log10 of magnitude.
double DbPerLogUnit(const FeatureSpec& spec) {
  const double per_decade = spec.spectrum == Spectrum::kPower ? 10 : 20;
  return spec.log_base == LogBase::k10 ? per_decade : per_decade / std::log(10.0);
}

}  // namespace

struct Extractor::State {
  State(const FeatureSpec& feature_spec, Lanes lanes);
  ~State() { kernel->destroy(kernel_state); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  FramePlan Plan() const;
  size_t n_features() const { return static_cast<size_t>(spec.n_mfcc.value_or(spec.n_mels)); }
  // top_db needs the maximum of the recording: offset, scale and DCT follow in a second pass.
  bool NeedsGlobalMax() const { return spec.top_db.has_value(); }
  size_t KernelColumns() const { return NeedsGlobalMax() ? static_cast<size_t>(spec.n_mels) : n_features(); }
  void RunBlock(const float* samples, size_t n, size_t frame, size_t valid, float* out);
  void RunAll(const float* samples, size_t n, size_t frame_count, float* out);
  void FinishSecondPass(const float* log_mel, size_t frame_count, float* out) const;

  FeatureSpec spec;
  const FrameKernel* kernel;
  std::vector<float> window;
  MelFilters filters;
  std::vector<float> dct;
  std::vector<float> padded;  // the samples of a block with padding
  std::vector<float> rows;    // [lanes x columns rounded up to 4]
  void* kernel_state;
};

Extractor::State::State(const FeatureSpec& feature_spec, Lanes lanes)
    : spec(feature_spec), kernel(&UNDERTONE_SELECT_WIDTH(lanes, kFrameKernel)), kernel_state(nullptr) {
  CheckFeatureSpec(spec);
  window = MakeWindow(spec);
  filters = MakeMelFilters(spec);
  dct = MakeDctMatrix(spec);
  padded.resize((kernel->lanes - 1) * static_cast<size_t>(spec.hop_length) +
                static_cast<size_t>(spec.win_length));
  rows.resize(kernel->lanes * RoundUpToFour(KernelColumns()));
  kernel_state = kernel->create(Plan());
  if (kernel_state == nullptr) throw std::bad_alloc();
}

FramePlan Extractor::State::Plan() const {
  FramePlan plan = {};
  plan.win_length = spec.win_length;
  plan.hop_length = spec.hop_length;
  plan.n_fft = spec.n_fft;
  plan.n_mels = spec.n_mels;
  plan.n_mfcc = NeedsGlobalMax() ? 0 : spec.n_mfcc.value_or(0);
  plan.window = window.data();
  plan.preemphasis = static_cast<float>(spec.preemphasis);
  plan.remove_dc = spec.remove_dc;
  plan.magnitude = spec.spectrum == Spectrum::kMagnitude;
  plan.energy = spec.energy == Energy::kLog;
  plan.mel_first = filters.first.data();
  plan.mel_count = filters.count.data();
  plan.mel_weights = filters.weights.data();
  plan.log_floor = static_cast<float>(spec.log_floor);
  plan.logarithm = spec.log_base != LogBase::kNone;
  plan.log_gain = spec.log_base == LogBase::k10 ? static_cast<float>(1.0 / std::log(10.0)) : 1.0f;
  plan.offset = NeedsGlobalMax() ? 0.0f : static_cast<float>(spec.offset);
  plan.scale = NeedsGlobalMax() ? 1.0f : static_cast<float>(spec.scale);
  plan.dct = dct.data();
  return plan;
}

// Computes frames [frame, frame + valid). The other lanes of a short last block are zero.
void Extractor::State::RunBlock(const float* samples, size_t n, size_t frame, size_t valid, float* out) {
  const size_t columns = KernelColumns();
  const size_t stride = RoundUpToFour(columns);
  const size_t length =
      (valid - 1) * static_cast<size_t>(spec.hop_length) + static_cast<size_t>(spec.win_length);
  const int64_t begin = FrameStart(spec, frame);
  const float* source = padded.data();
  if (valid < kernel->lanes || begin < 0 || static_cast<size_t>(begin) + length > n) {
    CopyMirrored(samples, n, spec.padding, begin, length, padded.data());
    std::fill(padded.begin() + static_cast<std::ptrdiff_t>(length), padded.end(), 0.0f);
  } else {
    source = samples + begin;
  }
  if (valid == kernel->lanes && stride == columns) {
    kernel->run(kernel_state, source, out, stride);
    return;
  }
  kernel->run(kernel_state, source, rows.data(), stride);
  for (size_t row = 0; row < valid; ++row) {
    std::memcpy(out + row * columns, rows.data() + row * stride, columns * sizeof(float));
  }
}

void Extractor::State::RunAll(const float* samples, size_t n, size_t frame_count, float* out) {
  for (size_t frame = 0; frame < frame_count; frame += kernel->lanes) {
    RunBlock(samples, n, frame, std::min(kernel->lanes, frame_count - frame), out + frame * KernelColumns());
  }
}

void Extractor::State::FinishSecondPass(const float* log_mel, size_t frame_count, float* out) const {
  const size_t n_mels = static_cast<size_t>(spec.n_mels);
  const size_t count = frame_count * n_mels;
  if (count == 0) return;
  const float floor =
      *std::max_element(log_mel, log_mel + count) - static_cast<float>(*spec.top_db / DbPerLogUnit(spec));
  const float offset = static_cast<float>(spec.offset);
  const float scale = static_cast<float>(spec.scale);
  const auto level = [=](float x) { return (std::max(x, floor) + offset) * scale; };
  if (dct.empty()) {
    std::transform(log_mel, log_mel + count, out, level);
    return;
  }
  for (size_t frame = 0; frame < frame_count; ++frame) {
    for (size_t c = 0; c < n_features(); ++c) {
      float sum = 0.0f;
      for (size_t m = 0; m < n_mels; ++m) sum += dct[c * n_mels + m] * level(log_mel[frame * n_mels + m]);
      *out++ = sum;
    }
  }
}

Extractor::Extractor(const FeatureSpec& spec, Lanes lanes) : state_(new State(spec, lanes)) {}
Extractor::~Extractor() = default;
Extractor::Extractor(Extractor&&) noexcept = default;
Extractor& Extractor::operator=(Extractor&&) noexcept = default;

size_t Extractor::Frames(size_t sample_count) const { return FrameCount(state_->spec, sample_count); }

size_t Extractor::n_features() const { return state_->n_features(); }

void Extractor::Extract(const float* samples, size_t n, float* out) {
  const size_t frame_count = Frames(n);
  const std::vector<float> filtered = Filter(state_->spec, samples, n);
  if (state_->spec.highpass_hz) samples = filtered.data();
  if (!state_->NeedsGlobalMax()) return state_->RunAll(samples, n, frame_count, out);
  if (!state_->spec.n_mfcc) {
    state_->RunAll(samples, n, frame_count, out);
    return state_->FinishSecondPass(out, frame_count, out);
  }
  std::vector<float> log_mel(frame_count * static_cast<size_t>(state_->spec.n_mels));
  state_->RunAll(samples, n, frame_count, log_mel.data());
  state_->FinishSecondPass(log_mel.data(), frame_count, out);
}

Features Extractor::operator()(const float* samples, size_t n) {
  Features features = {{}, Frames(n), n_features()};
  features.data.resize(features.frames * features.n_features);
  Extract(samples, n, features.data.data());
  return features;
}

}  // namespace undertone
