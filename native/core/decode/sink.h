#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "decode/channel_stats.h"
#include "decode/decode.h"
#include "decode/decode_budget.h"
#include "dsp/resample.h"

namespace undertone {

// Where every decoder writes its samples: levels are measured, channels averaged, the rate converted. Checks
// every limit except the file's kind. Memory is proportional to the samples of the result that are not taken
// yet, whatever the source.
class Sink {
 public:
  static constexpr size_t kBlock = 4096;  // frames

  // `chunk_length`: samples after which the caller takes them; 0 keeps the whole result.
  explicit Sink(const DecodeOptions& options, size_t chunk_length = 0)
      : options_(options), chunk_length_(chunk_length), budget_(options) {}

  // States what the next frames are; called again wherever that changes.
  void SetFormat(int rate, int channels, float full_scale);

  // Announces the duration that the file declares for what follows. Memory is reserved for it within the
  // limits.
  void ReserveDuration(double seconds);

  // Adds up to kBlock frames: planes[channel][frame].
  void Write(const float* const* planes, size_t frames);

  // Resamples what is left. Nothing may be written afterwards.
  void Finish();

  // kBlock samples a channel for callers that have to convert first.
  float* const* scratch() { return scratch_.data(); }

  // Throws kTooLong when `seconds` of audio, known to be in the file, exceed the limit.
  void CheckSeconds(double seconds) const;
  void CheckRate(int rate) const;
  void CheckChannels(int channels) const;

  const DecodeBudget& budget() const { return budget_; }
  DecodeBudget* budget() { return &budget_; }
  double seconds() const { return seconds_; }                    // of source audio so far
  double declared_seconds() const { return declared_seconds_; }  // 0 when the file declares none
  bool empty() const { return seconds_ == 0; }

  // Samples of the result that can be taken.
  size_t ready() const { return samples_.size() - start_; }
  size_t taken() const { return taken_; }
  // The next samples of the result, at most `count`.
  std::vector<float> Take(size_t count);

  // Rate, channels and levels of the source; its other fields are the caller's to fill.
  Source source() const;

 private:
  const float* TakeLevels(int channel, const float* plane, size_t frames);
  void Mix(size_t frames);
  void SetRate(int rate);
  void Resample();
  void FlushResampler();
  void GrowResult();

  const DecodeOptions options_;
  const size_t chunk_length_;
  DecodeBudget budget_;
  std::vector<float> samples_;  // of the result, from start_ on
  size_t start_ = 0;
  size_t taken_ = 0;
  std::vector<float> blocks_;         // [channel][kBlock]
  std::vector<float*> scratch_;       // into blocks_
  std::vector<const float*> planes_;  // the frames being written, without what cannot be samples
  std::vector<float> mono_;           // mixed, not yet resampled: the first mixed_ samples
  size_t mixed_ = 0;
  std::optional<Resampler> resampler_;
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
