#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "decode/decode.h"
#include "decode/decode_budget.h"
#include "decode/samples.h"
#include "dsp/resample.h"

namespace undertone {

// Tolerance of declared durations and of sums of packet durations.
constexpr double kDurationToleranceSeconds = 1;

// Resamples one mono signal and keeps the samples that are not read yet.
class MonoOutput {
 public:
  static constexpr size_t kMaxBlock = 4096;  // frames of one block

  // `sample_rate`: of the result, Hz. `max_samples`: samples that the caller reads at a time; 0: the whole
  // result, of at most `max_seconds`.
  MonoOutput(int sample_rate, size_t max_samples, double max_seconds);

  // Flushes the resampler and opens one for the next blocks.
  void SetRate(int rate);

  // Reserves memory for a whole result.
  void Reserve(double seconds);

  // Returns memory for a block of at most kMaxBlock frames; AddBlock appends the frames written there.
  float* NextBlock() { return pending_samples_.data() + pending_; }
  void AddBlock(size_t frames);

  void Flush();

  size_t available() const { return samples_.size() - start_; }
  size_t total_read() const { return total_read_; }
  // Reads the next samples, at most `count`.
  std::vector<float> Read(size_t count);

 private:
  void Resample();
  void Grow();

  const int sample_rate_;
  const size_t max_samples_;
  const double max_seconds_;
  std::vector<float> samples_;  // from start_ on
  size_t start_ = 0;
  size_t total_read_ = 0;
  std::vector<float> pending_samples_;  // the first pending_ are not resampled yet
  size_t pending_ = 0;
  std::optional<Resampler> resampler_;
  int rate_ = 0;
};

// Receives the samples of all readers: measures levels, mixes channels, resamples, and checks the limits.
// Memory is proportional to the result that is not read yet.
class Sink {
 public:
  static constexpr size_t kBlock = MonoOutput::kMaxBlock;  // frames

  // `max_samples`: samples that the caller reads at a time; 0: the whole result.
  explicit Sink(const DecodeOptions& options, size_t max_samples = 0);

  // Sets the format of the next frames. `full_scale`: the largest value of the source's sample format.
  void SetFormat(int rate, int channels, float full_scale);

  // Reserves memory for the duration that the file declares for the next frames, within the limits.
  void ReserveDuration(double seconds);

  // Writes up to kBlock frames: planes[channel][frame].
  void Write(const float* const* planes, size_t frames);

  // Announces `seconds` without audio, which WriteSilence then writes. `lost`: audio is missing from the file.
  // Throws kTooLong.
  void BeginSilence(double seconds, bool lost);

  // Writes up to kBlock frames without audio, which no level counts.
  void WriteSilence(size_t frames);

  // Flushes the resampler. Nothing may be written afterwards.
  void Finish();

  // Scratch for conversion: [channel][kBlock].
  float* const* scratch() { return scratch_.data(); }

  // Throw kTooLong, kSampleRate, kTooManyChannels and kChannel. `seconds`: of audio known to be in the file.
  void CheckSeconds(double seconds) const;
  void CheckRate(int rate) const;
  void CheckChannels(int channels) const;

  DecodeBudget& budget() { return budget_; }
  int track() const { return options_.track; }                   // of the options
  double seconds() const { return seconds_; }                    // of source audio so far
  double missing_seconds() const { return missing_seconds_; }    // of them, announced as silence
  double declared_seconds() const { return declared_seconds_; }  // 0 when the file declares none
  bool has_input() const { return seconds_ > 0; }

  size_t available() const { return outputs_[0].available(); }  // samples of each result
  size_t total_read() const { return outputs_[0].total_read(); }
  // Reads the next samples of each result, at most `count`, one result after the other.
  std::vector<float> Read(size_t count);

  // Returns the gaps that were announced since the last call.
  std::vector<Gap> ReadGaps() { return std::exchange(gaps_, {}); }

  // Rate, channels and levels; the other fields are empty.
  Source source() const;

 private:
  void Advance(size_t frames);
  const float* UpdateStats(int channel, const float* plane, size_t frames);
  void AddToOutputs(size_t frames);
  void Downmix(size_t frames, float* mono) const;
  void SetRate(int rate);

  const DecodeOptions options_;
  DecodeBudget budget_;
  std::vector<MonoOutput> outputs_;
  std::vector<float> blocks_;         // [channel][kBlock]
  std::vector<float*> scratch_;       // into blocks_
  std::vector<const float*> planes_;  // the frames being written, sanitized
  Clipping clipping_;
  Correlation correlation_;
  std::vector<Gap> gaps_;
  double seconds_ = 0;
  double missing_seconds_ = 0;
  double declared_seconds_ = 0;
  double channel_samples_ = 0;  // of all channels
  int rate_ = 0;
  int rate_changes_ = 0;
  int channels_ = 0;
  float full_scale_ = 0;
  int first_rate_ = 0;
  int first_channels_ = 0;
};

}  // namespace undertone
