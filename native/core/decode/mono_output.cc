#include "decode/mono_output.h"

#include <algorithm>
#include <utility>

#include "decode/channel_stats.h"

namespace undertone {
namespace {

constexpr size_t kPendingSamples = 4 * MonoOutput::kMaxBlock;
constexpr size_t kDoublingLimit = size_t{1} << 18;   // samples up to which the result grows by doubling
constexpr size_t kMaxReservation = size_t{1} << 26;  // samples that are reserved at once

}  // namespace

MonoOutput::MonoOutput(int sample_rate, size_t max_samples, double max_seconds)
    : sample_rate_(sample_rate), max_samples_(max_samples), max_seconds_(max_seconds) {}

void MonoOutput::SetRate(int rate) {
  Flush();
  resampler_.emplace(rate, sample_rate_);
  rate_ = rate;
  pending_samples_.resize(kPendingSamples);
}

void MonoOutput::Reserve(double seconds) {
  if (max_samples_ > 0) return;
  const double expected = std::min(seconds, max_seconds_) * sample_rate_;
  if (expected > 0 && expected < kMaxReservation) samples_.reserve(static_cast<size_t>(expected) + kMaxBlock);
}

void MonoOutput::AddBlock(size_t frames) {
  pending_ += frames;
  if (pending_ + kMaxBlock > kPendingSamples) Resample();
}

void MonoOutput::Resample() {
  samples_.erase(samples_.begin(), samples_.begin() + static_cast<ptrdiff_t>(start_));
  start_ = 0;
  Grow();
  SanitizeSamples(pending_samples_.data(), pending_);
  const size_t before = samples_.size();
  resampler_->Process(pending_samples_.data(), pending_, &samples_);
  SanitizeSamples(samples_.data() + before, samples_.size() - before);
  pending_ = 0;
}

void MonoOutput::Flush() {
  if (!resampler_) return;
  Resample();
  const size_t before = samples_.size();
  resampler_->Flush(&samples_);
  SanitizeSamples(samples_.data() + before, samples_.size() - before);
}

// After the first seconds, reserves the most that the limit or the caller allows. Untouched pages are free;
// growing in steps would copy the result and fragment the heap.
void MonoOutput::Grow() {
  const double incoming = static_cast<double>(pending_) * sample_rate_ / rate_ + kMaxBlock;
  const double needed = static_cast<double>(samples_.size()) + incoming;
  if (needed <= static_cast<double>(std::max(samples_.capacity(), kDoublingLimit))) return;
  const double max =
      max_samples_ > 0 ? static_cast<double>(max_samples_) + incoming : max_seconds_ * sample_rate_;
  if (max >= needed && max < kMaxReservation) samples_.reserve(static_cast<size_t>(max));
}

std::vector<float> MonoOutput::Read(size_t count) {
  count = std::min(count, available());
  total_read_ += count;
  const auto begin = samples_.cbegin() + static_cast<ptrdiff_t>(start_);
  const auto end = begin + static_cast<ptrdiff_t>(count);
  // Gives the buffer away and copies what follows, if that is shorter.
  if (start_ == 0 && samples_.size() - count <= count) {
    std::vector<float> following(end, samples_.cend());
    samples_.resize(count);
    return std::exchange(samples_, std::move(following));
  }
  start_ += count;
  return {begin, end};
}

}  // namespace undertone
