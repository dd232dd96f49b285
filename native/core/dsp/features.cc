#include "dsp/features.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>

#include "dsp/frame_kernel.h"
#include "dsp/frames.h"
#include "dsp/lanes.h"
#include "dsp/mel.h"
#include "dsp/mfcc.h"
#include "dsp/window.h"

namespace undertone {
namespace {

const Kernel* FindKernel(Lanes lanes) {
  switch (LaneWidth(lanes)) {
#if defined(__x86_64__)
    case 4:
      return &lanes4::kKernel;
    case 8:
      return &lanes8::kKernel;
    case 16:
      return &lanes16::kKernel;
#endif
    default:
      return &lanes1::kKernel;
  }
}

size_t RoundUp(size_t count) { return (count + 3) / 4 * 4; }

}  // namespace

struct Extractor::State {
  State(const FeatureSpec& feature_spec, Lanes lanes);
  ~State() { kernel->destroy(frames); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  KernelPlan Plan() const;
  size_t Columns() const { return static_cast<size_t>(spec.coefficients.value_or(spec.bins)); }
  // With a dynamic range the maximum must be known first: offset, scale and cosine transform come in a second
  // pass.
  bool TwoPasses() const { return spec.dynamic_range.has_value(); }
  size_t KernelColumns() const { return TwoPasses() ? static_cast<size_t>(spec.bins) : Columns(); }
  void RunBlock(const float* samples, size_t n, size_t frame, size_t valid, float* out);
  void RunAll(const float* samples, size_t n, size_t frame_count, float* out);
  void Finish(const float* log_mel, size_t frame_count, float* out) const;

  FeatureSpec spec;
  const Kernel* kernel;
  std::vector<float> window;
  MelFilters filters;
  std::vector<float> cepstrum;
  std::vector<float> edge;  // samples of a block that reaches into the padding
  std::vector<float> rows;  // [lanes x columns rounded up to 4]
  void* frames;             // the kernel's own state
};

Extractor::State::State(const FeatureSpec& feature_spec, Lanes lanes)
    : spec(feature_spec), kernel(FindKernel(lanes)), frames(nullptr) {
  CheckSpec(spec);
  window = MakeWindow(spec);
  filters = MakeMelFilters(spec);
  cepstrum = MakeCepstrum(spec);
  const size_t width = static_cast<size_t>(kernel->lanes);
  edge.resize((width - 1) * static_cast<size_t>(spec.hop) + static_cast<size_t>(spec.frame_length));
  rows.resize(width * RoundUp(KernelColumns()));
  frames = kernel->create(Plan());
  if (frames == nullptr) throw std::bad_alloc();
}

KernelPlan Extractor::State::Plan() const {
  KernelPlan plan = {};
  plan.frame_length = spec.frame_length;
  plan.hop = spec.hop;
  plan.fft_length = spec.fft_length;
  plan.bins = spec.bins;
  plan.coefficients = TwoPasses() ? 0 : spec.coefficients.value_or(0);
  plan.window = window.data();
  plan.preemphasis = static_cast<float>(spec.preemphasis);
  plan.remove_dc = spec.remove_dc;
  plan.magnitude = spec.spectrum == Spectrum::kMagnitude;
  plan.energy = spec.energy == Energy::kLog;
  plan.mel_first = filters.first.data();
  plan.mel_count = filters.count.data();
  plan.mel_weights = filters.weights.data();
  plan.log_floor = static_cast<float>(spec.log_floor);
  plan.log_gain = spec.log_base == LogBase::k10 ? static_cast<float>(1.0 / std::log(10.0)) : 1.0f;
  plan.offset = TwoPasses() ? 0.0f : static_cast<float>(spec.offset);
  plan.scale = TwoPasses() ? 1.0f : static_cast<float>(spec.scale);
  plan.cepstrum = cepstrum.data();
  return plan;
}

// Frames [frame, frame + valid); a short last block fills its other lanes with zeros.
void Extractor::State::RunBlock(const float* samples, size_t n, size_t frame, size_t valid, float* out) {
  const size_t width = static_cast<size_t>(kernel->lanes);
  const size_t columns = KernelColumns();
  const size_t stride = RoundUp(columns);
  const size_t length = (valid - 1) * static_cast<size_t>(spec.hop) + static_cast<size_t>(spec.frame_length);
  const int64_t begin = FrameStart(spec, frame);
  const float* source = edge.data();
  if (valid < width || begin < 0 || static_cast<size_t>(begin) + length > n) {
    CopyMirrored(samples, n, spec.padding, begin, length, edge.data());
    std::fill(edge.begin() + static_cast<std::ptrdiff_t>(length), edge.end(), 0.0f);
  } else {
    source = samples + begin;
  }
  if (valid == width && stride == columns) {
    kernel->run(frames, source, out, stride);
    return;
  }
  kernel->run(frames, source, rows.data(), stride);
  for (size_t row = 0; row < valid; ++row) {
    std::memcpy(out + row * columns, rows.data() + row * stride, columns * sizeof(float));
  }
}

void Extractor::State::RunAll(const float* samples, size_t n, size_t frame_count, float* out) {
  const size_t width = static_cast<size_t>(kernel->lanes);
  for (size_t frame = 0; frame < frame_count; frame += width) {
    RunBlock(samples, n, frame, std::min(width, frame_count - frame), out + frame * KernelColumns());
  }
}

void Extractor::State::Finish(const float* log_mel, size_t frame_count, float* out) const {
  const size_t bins = static_cast<size_t>(spec.bins);
  const size_t count = frame_count * bins;
  if (count == 0) return;
  const float floor = *std::max_element(log_mel, log_mel + count) - static_cast<float>(*spec.dynamic_range);
  const float offset = static_cast<float>(spec.offset);
  const float scale = static_cast<float>(spec.scale);
  const auto level = [=](float x) { return (std::max(x, floor) + offset) * scale; };
  if (cepstrum.empty()) {
    std::transform(log_mel, log_mel + count, out, level);
    return;
  }
  for (size_t frame = 0; frame < frame_count; ++frame) {
    for (size_t c = 0; c < Columns(); ++c) {
      float sum = 0.0f;
      for (size_t m = 0; m < bins; ++m) sum += cepstrum[c * bins + m] * level(log_mel[frame * bins + m]);
      *out++ = sum;
    }
  }
}

Extractor::Extractor(const FeatureSpec& spec, Lanes lanes) : state_(new State(spec, lanes)) {}
Extractor::~Extractor() = default;
Extractor::Extractor(Extractor&&) noexcept = default;
Extractor& Extractor::operator=(Extractor&&) noexcept = default;

size_t Extractor::Frames(size_t sample_count) const { return FrameCount(state_->spec, sample_count); }

size_t Extractor::Bins() const { return state_->Columns(); }

void Extractor::Extract(const float* samples, size_t n, float* out) {
  const size_t frame_count = Frames(n);
  if (!state_->TwoPasses()) return state_->RunAll(samples, n, frame_count, out);
  if (!state_->spec.coefficients) {
    state_->RunAll(samples, n, frame_count, out);
    return state_->Finish(out, frame_count, out);
  }
  std::vector<float> log_mel(frame_count * static_cast<size_t>(state_->spec.bins));
  state_->RunAll(samples, n, frame_count, log_mel.data());
  state_->Finish(log_mel.data(), frame_count, out);
}

Features Extractor::operator()(const float* samples, size_t n) {
  Features features = {{}, Frames(n), Bins()};
  features.data.resize(features.frames * features.bins);
  Extract(samples, n, features.data.data());
  return features;
}

}  // namespace undertone
