#include "dsp/resample.h"

#include <soxr.h>

#include <algorithm>
#include <string>

#include "error.h"

namespace undertone {
namespace {

constexpr size_t kOutputBlock = 8192;

void Require(soxr_error_t error) {
  if (error != nullptr) {
    throw Error(ErrorCode::kInternal,
                std::string("soxr failed: ") + soxr_strerror(error));
  }
}

soxr_t Create(int source_rate, int target_rate) {
  if (source_rate <= 0 || target_rate <= 0) {
    throw Error(ErrorCode::kBadArgument, "Expected a rate above 0 for `sampleRate`, got " +
                                             std::to_string(std::min(source_rate, target_rate)));
  }
  if (source_rate == target_rate) return nullptr;
  soxr_error_t error = nullptr;
  const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
  const soxr_runtime_spec_t runtime = soxr_runtime_spec(1);
  soxr_t soxr = soxr_create(source_rate, target_rate, 1, &error, &io, &quality, &runtime);
  Require(error);
  return soxr;
}

}  // namespace

struct Resampler::State {
  State(int source_rate, int target_rate) : soxr(Create(source_rate, target_rate)) {
    if (soxr != nullptr) block.resize(kOutputBlock);
  }
  ~State() { soxr_delete(soxr); }

  // Appends the output for `count` samples; null: the end of the input.
  void Run(const float* samples, size_t count, std::vector<float>* out) {
    size_t consumed = 0;
    for (;;) {
      size_t used = 0;
      size_t produced = 0;
      const float* next = samples == nullptr ? nullptr : samples + consumed;
      Require(soxr_process(soxr, next, count - consumed, &used, block.data(), block.size(), &produced));
      consumed += used;
      out->insert(out->end(), block.data(), block.data() + produced);
      if (produced < block.size() && consumed == count) return;
    }
  }

  soxr_t soxr;               // null when the rates are equal
  std::vector<float> block;  // output of soxr
};

Resampler::Resampler(int source_rate, int target_rate) : state_(new State(source_rate, target_rate)) {}
Resampler::~Resampler() = default;
Resampler::Resampler(Resampler&&) noexcept = default;
Resampler& Resampler::operator=(Resampler&&) noexcept = default;

void Resampler::Process(const float* samples, size_t count, std::vector<float>* out) {
  if (count == 0) return;
  if (state_->soxr == nullptr) {
    out->insert(out->end(), samples, samples + count);
  } else {
    state_->Run(samples, count, out);
  }
}

void Resampler::Flush(std::vector<float>* out) {
  if (state_->soxr != nullptr) state_->Run(nullptr, 0, out);
}

std::string ResamplerVersion() {
  const std::string version = soxr_version();
  const size_t dash = version.find('-');
  return dash == std::string::npos ? version : version.substr(dash + 1);
}

}  // namespace undertone
