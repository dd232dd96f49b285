#include "decode/sink.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace undertone {
namespace {

constexpr int kMaxRateChanges = 1000;  // each costs a new filter
// Samples of all channels per allowed second: 12 channels at 48 kHz. Compressed silence has no minimum size,
// so the size of the file does not bound this work.
constexpr double kMaxChannelSamplesPerSecond = 576000;

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

Sink::Sink(const DecodeOptions& options, size_t max_samples) : options_(options), budget_(options) {
  const size_t count = options.channel == kEachOfTwoChannels ? 2 : 1;
  outputs_.reserve(count);
  while (outputs_.size() < count) {
    outputs_.emplace_back(options.sample_rate, max_samples, options.max_seconds + kDurationToleranceSeconds);
  }
}

void Sink::CheckSeconds(double seconds) const {
  if (seconds > options_.max_seconds) {
    throw Error(ErrorCode::kTooLong,
                "Expected at most " + FormatNumber(options_.max_seconds) + " s of audio, got more");
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
  if (options_.channel == kEachOfTwoChannels && channels != 2) {
    const std::string advice = channels == 1 ? "; `speakers` separates voices on one channel" : "";
    throw Error(ErrorCode::kChannel,
                "Expected a recording with 2 channels, got " + std::to_string(channels) + advice);
  }
  if (options_.channel >= channels) {
    const std::string expected =
        channels == 1 ? "0, the only channel," : "a channel of 0 to " + std::to_string(channels - 1);
    throw Error(ErrorCode::kChannel,
                "Expected " + expected + " for `channel`, got " + std::to_string(options_.channel));
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
  clipping_.Reset(channels, full_scale);
  correlation_.Reset(channels);
  planes_.resize(static_cast<size_t>(channels));
  scratch_.resize(static_cast<size_t>(channels));
  blocks_.resize(static_cast<size_t>(channels) * kBlock);
  for (size_t channel = 0; channel < scratch_.size(); ++channel)
    scratch_[channel] = blocks_.data() + channel * kBlock;
  channels_ = channels;
  full_scale_ = full_scale;
}

void Sink::SetRate(int rate) {
  if (rate_changes_++ > kMaxRateChanges) {
    throw Error(ErrorCode::kMalformed, "Expected a steady sample rate, got more than " +
                                           std::to_string(kMaxRateChanges) + " changes");
  }
  for (MonoOutput& output : outputs_) output.SetRate(rate);
  rate_ = rate;
}

void Sink::ReserveDuration(double seconds) {
  declared_seconds_ = seconds_ + seconds;
  for (MonoOutput& output : outputs_) output.Reserve(seconds + kDurationToleranceSeconds);
}

void Sink::Advance(size_t frames) {
  budget_.Check();
  const double seconds = seconds_ + static_cast<double>(frames) / rate_;
  CheckSeconds(seconds - 0.5 / rate_);  // half a sample, for the rounding of the sum
  seconds_ = seconds;
  channel_samples_ += static_cast<double>(frames) * channels_;
  if (channel_samples_ > kMaxChannelSamplesPerSecond * options_.max_seconds) {
    throw Error(ErrorCode::kTooLong, "Expected at most " +
                                         FormatNumber(kMaxChannelSamplesPerSecond * options_.max_seconds) +
                                         " samples of all channels, got more");
  }
  budget_.SetDecodedSeconds(seconds);
}

void Sink::Write(const float* const* planes, size_t frames) {
  Advance(frames);
  for (int channel = 0; channel < channels_; ++channel) {
    planes_[static_cast<size_t>(channel)] = UpdateStats(channel, planes[channel], frames);
  }
  correlation_.Add(planes_.data(), frames);
  AddToOutputs(frames);
}

void Sink::BeginSilence(double seconds, bool lost) {
  CheckSeconds(seconds_ + seconds - kDurationToleranceSeconds);
  missing_seconds_ += seconds;
  if (lost) gaps_.push_back({seconds_, seconds_ + seconds});
}

void Sink::WriteSilence(size_t frames) {
  Advance(frames);
  for (MonoOutput& output : outputs_) {
    std::fill_n(output.NextBlock(), frames, 0.0F);
    output.AddBlock(frames);
  }
}

// Returns the plane, or a sanitized copy where it has invalid samples.
const float* Sink::UpdateStats(int channel, const float* plane, size_t frames) {
  float peak = Peak(plane, frames);
  if (!(peak <= kMaxMagnitude)) {
    float* copy = scratch_[static_cast<size_t>(channel)];
    if (copy != plane) std::copy(plane, plane + frames, copy);
    SanitizeSamples(copy, frames);
    plane = copy;
    peak = Peak(plane, frames);
  }
  clipping_.Add(channel, plane, frames, peak);
  return plane;
}

void Sink::AddToOutputs(size_t frames) {
  const bool is_mix = options_.channel == -1 && channels_ > 1;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    float* block = outputs_[i].NextBlock();
    const size_t channel = options_.channel > 0 ? static_cast<size_t>(options_.channel) : i;
    if (is_mix)
      Downmix(frames, block);
    else
      std::copy(planes_[channel], planes_[channel] + frames, block);
    outputs_[i].AddBlock(frames);
  }
}

void Sink::Downmix(size_t frames, float* mono) const {
  const float gain = 1.0F / static_cast<float>(channels_);
  const float* first = planes_[0];
  const float* second = planes_[1];
  for (size_t i = 0; i < frames; ++i) mono[i] = (first[i] + second[i]) * gain;
  for (size_t channel = 2; channel < planes_.size(); ++channel) {
    const float* plane = planes_[channel];
    for (size_t i = 0; i < frames; ++i) mono[i] += plane[i] * gain;
  }
}

void Sink::Finish() {
  for (MonoOutput& output : outputs_) output.Flush();
}

std::vector<float> Sink::Read(size_t count) {
  std::vector<float> samples = outputs_[0].Read(count);
  if (outputs_.size() == 1) return samples;
  const std::vector<float> second = outputs_[1].Read(count);
  samples.insert(samples.end(), second.begin(), second.end());
  return samples;
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
