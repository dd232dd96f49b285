#pragma once

#include <cstddef>
#include <vector>

#include "decode/channel_stats.h"
#include "decode/decode.h"
#include "decode/decode_budget.h"
#include "decode/mono_output.h"

namespace undertone {

// Tolerance of declared durations and of sums of packet durations.
constexpr double kDurationToleranceSeconds = 1;

// Receives the samples of all decoders: measures levels, mixes channels, resamples, and checks the limits.
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

  // Flushes the resampler. Nothing may be written afterwards.
  void Finish();

  // Scratch for conversion: [channel][kBlock].
  float* const* scratch() { return scratch_.data(); }

  // Throw kTooLong, kSampleRate, kTooManyChannels and kChannel. `seconds`: of audio known to be in the file.
  void CheckSeconds(double seconds) const;
  void CheckRate(int rate) const;
  void CheckChannels(int channels) const;

  DecodeBudget& budget() { return budget_; }
  double seconds() const { return seconds_; }                    // of source audio so far
  double declared_seconds() const { return declared_seconds_; }  // 0 when the file declares none
  bool has_input() const { return seconds_ > 0; }

  size_t available() const { return outputs_[0].available(); }  // samples of each result
  size_t total_read() const { return outputs_[0].total_read(); }
  // Reads the next samples of each result, at most `count`, one result after the other.
  std::vector<float> Read(size_t count);

  // Rate, channels and levels; the other fields are empty.
  Source source() const;

 private:
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
  double seconds_ = 0;
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
