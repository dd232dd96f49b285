#include "decode/sink.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

namespace undertone {
namespace {

constexpr int kMostRateChanges = 1000;  // each costs a new filter
// Samples of all channels for each second that is allowed: 12 channels at 48 kHz. Wider files cost more than
// hours of narrow ones, and silence takes no bytes.
constexpr double kWidest = 576000;
constexpr size_t kMonoBlock = 4 * Sink::kBlock;
constexpr size_t kSmallResult = size_t{1} << 18;    // samples up to which the result doubles
constexpr size_t kLargestResult = size_t{1} << 26;  // samples that may be reserved without a claim

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace

void Sink::CheckSeconds(double seconds) const {
  if (seconds > options_.max_seconds) {
    throw Error(ErrorCode::kTooLong,
                "Expected at most " + Number(options_.max_seconds) + " s of audio, got more");
  }
}

void Sink::CheckRate(int rate) const {
  if (rate < options_.min_source_rate || rate > options_.max_source_rate) {
    throw Error(ErrorCode::kSampleRate,
                "Expected a sample rate of " + std::to_string(options_.min_source_rate) + " to " +
                    std::to_string(options_.max_source_rate) + " Hz, got " + std::to_string(rate));
  }
}

void Sink::CheckChannels(int channels) const {
  if (channels > options_.max_channels) {
    throw Error(ErrorCode::kTooManyChannels, "Expected at most " + std::to_string(options_.max_channels) +
                                                 " channels, got " + std::to_string(channels));
  }
  if (channels < 1) throw Error(ErrorCode::kMalformed, "Expected at least one channel, got none");
  if (options_.channel >= channels) {
    const std::string there =
        channels == 1 ? "0, the only channel," : "a channel of 0 to " + std::to_string(channels - 1);
    throw Error(ErrorCode::kChannel,
                "Expected " + there + " for `channel`, got " + std::to_string(options_.channel));
  }
}

void Sink::SetFormat(int rate, int channels, float full_scale) {
  if (rate == rate_ && channels == channels_ && full_scale == full_scale_) return;
  CheckRate(rate);
  CheckChannels(channels);
  if (rate != rate_) SetRate(rate);
  if (first_channels_ == 0) {
    first_rate_ = rate;
    first_channels_ = channels;
  }
  clipping_.Begin(channels, full_scale);
  correlation_.Begin(channels);
  planes_.resize(static_cast<size_t>(channels));
  scratch_.resize(static_cast<size_t>(channels));
  blocks_.resize(static_cast<size_t>(channels) * kBlock);
  for (size_t channel = 0; channel < scratch_.size(); ++channel)
    scratch_[channel] = blocks_.data() + channel * kBlock;
  mono_.resize(kMonoBlock);
  channels_ = channels;
  full_scale_ = full_scale;
}

void Sink::SetRate(int rate) {
  if (rate_changes_++ > kMostRateChanges) {
    throw Error(ErrorCode::kMalformed, "Expected a steady sample rate, got more than " +
                                           std::to_string(kMostRateChanges) + " changes");
  }
  FlushResampler();
  resampler_.emplace(rate, options_.sample_rate);
  rate_ = rate;
}

void Sink::ReserveDuration(double seconds) {
  declared_seconds_ = seconds_ + seconds;
  if (chunk_length_ > 0) return;
  const double most = std::min(seconds + 1, options_.max_seconds) * options_.sample_rate;
  if (most > 0 && most < kLargestResult) samples_.reserve(static_cast<size_t>(most) + kBlock);
}

void Sink::Write(const float* const* planes, size_t frames) {
  budget_.Check();
  const double seconds = seconds_ + static_cast<double>(frames) / rate_;
  CheckSeconds(seconds - 0.5 / rate_);
  seconds_ = seconds;
  channel_samples_ += static_cast<double>(frames) * channels_;
  if (channel_samples_ > kWidest * options_.max_seconds) {
    throw Error(ErrorCode::kTooLong, "Expected at most " + Number(kWidest * options_.max_seconds) +
                                         " samples of all channels, got more");
  }
  budget_.SetDecodedSeconds(seconds);
  for (int channel = 0; channel < channels_; ++channel) {
    planes_[static_cast<size_t>(channel)] = TakeLevels(channel, planes[channel], frames);
  }
  correlation_.Add(planes_.data(), frames);
  Mix(frames);
  if (mixed_ + kBlock > kMonoBlock) Resample();
}

// Returns the plane, or a cleaned copy where it holds what cannot be samples.
const float* Sink::TakeLevels(int channel, const float* plane, size_t frames) {
  float peak = Peak(plane, frames);
  if (!(peak <= kLargestSample)) {
    float* copy = scratch_[static_cast<size_t>(channel)];
    if (copy != plane) std::copy(plane, plane + frames, copy);
    Scrub(copy, frames);
    plane = copy;
    peak = Peak(plane, frames);
  }
  clipping_.Add(channel, plane, frames, peak);
  return plane;
}

void Sink::Mix(size_t frames) {
  float* mono = mono_.data() + mixed_;
  mixed_ += frames;
  const float* first = planes_[static_cast<size_t>(std::max(options_.channel, 0))];
  if (options_.channel >= 0 || channels_ == 1) {
    std::copy(first, first + frames, mono);
    return;
  }
  const float share = 1.0F / static_cast<float>(channels_);
  const float* second = planes_[1];
  for (size_t i = 0; i < frames; ++i) mono[i] = (first[i] + second[i]) * share;
  for (size_t channel = 2; channel < planes_.size(); ++channel) {
    const float* plane = planes_[channel];
    for (size_t i = 0; i < frames; ++i) mono[i] += plane[i] * share;
  }
}

void Sink::Resample() {
  samples_.erase(samples_.begin(), samples_.begin() + static_cast<ptrdiff_t>(start_));
  start_ = 0;
  GrowResult();
  Scrub(mono_.data(), mixed_);
  const size_t before = samples_.size();
  resampler_->Process(mono_.data(), mixed_, &samples_);
  Scrub(samples_.data() + before, samples_.size() - before);
  mixed_ = 0;
}

void Sink::FlushResampler() {
  if (!resampler_) return;
  Resample();
  const size_t before = samples_.size();
  resampler_->Flush(&samples_);
  Scrub(samples_.data() + before, samples_.size() - before);
}

// Past a few seconds, one step to what the limit or the chunk allows: pages not written to cost nothing,
// copies would, and the allocator keeps what they leave behind.
void Sink::GrowResult() {
  const double coming = static_cast<double>(mixed_) * options_.sample_rate / rate_ + kBlock;
  const double needed = static_cast<double>(samples_.size()) + coming;
  if (needed <= static_cast<double>(std::max(samples_.capacity(), kSmallResult))) return;
  const double most = chunk_length_ > 0 ? static_cast<double>(chunk_length_) + coming
                                        : (options_.max_seconds + 1) * options_.sample_rate;
  if (most >= needed && most < kLargestResult) samples_.reserve(static_cast<size_t>(most));
}

void Sink::Finish() { FlushResampler(); }

std::vector<float> Sink::Take(size_t count) {
  if (start_ == 0 && count >= samples_.size()) {
    taken_ += samples_.size();
    return std::exchange(samples_, {});
  }
  const auto begin = samples_.cbegin() + static_cast<ptrdiff_t>(start_);
  std::vector<float> taken(begin, begin + static_cast<ptrdiff_t>(std::min(count, ready())));
  start_ += taken.size();
  taken_ += taken.size();
  return taken;
}

Source Sink::source() const {
  Source source;
  source.sample_rate = first_rate_;
  source.channels = first_channels_;
  source.clipped_ratio = clipping_.Ratio();
  source.channel_correlation = correlation_.Lowest();
  return source;
}

}  // namespace undertone
