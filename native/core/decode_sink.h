#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "decode.h"
#include "decode_levels.h"
#include "decode_watch.h"
#include "resample.h"

namespace undertone {

// Where every decoder puts its samples: levels are taken, channels become one, the rate becomes the wanted
// one. Memory is the result's, whatever the source's. All limits but the file's kind are kept here.
class Sink {
 public:
  static constexpr size_t kBlock = 4096;  // frames

  // With a taker the samples are its own as they come, and the result is what is left at the end.
  explicit Sink(const DecodeOptions& options, const Taker* taker = nullptr)
      : options_(options), watch_(options), taker_(taker) {}

  // States how many bytes all of it comes from.
  void Face(size_t bytes) { watch_.Face(bytes); }

  // States what the next frames are; called again wherever that changes.
  void Begin(int rate, int channels, float full_scale);

  // Announces how much may come in all, so that the result need not grow; nothing is believed beyond the
  // limits.
  void Expect(double seconds);

  // Takes up to kBlock frames: planes[channel][frame].
  void Write(const float* const* planes, size_t frames);

  // kBlock samples a channel for callers that have to convert first.
  float* const* scratch() { return scratch_.data(); }

  // Throws kTooLong when `seconds` of audio, known to be in the file, are more than allowed.
  void CheckSeconds(double seconds) const;
  void CheckRate(int rate) const;
  void CheckChannels(int channels) const;

  const Watch& watch() const { return watch_; }
  double seconds() const { return seconds_; }  // of source audio so far
  bool empty() const { return seconds_ == 0; }
  size_t taken() const { return taken_; }  // samples of the result that the taker has

  // The result; its container, codec and truncation are the caller's to say.
  Audio Finish();

 private:
  const float* TakeLevels(int channel, const float* plane, size_t frames);
  void Mix(size_t frames);
  void BeginRate(int rate);
  void Resample();
  void GrowResult();
  void HandOver();

  const DecodeOptions& options_;
  Watch watch_;
  const Taker* taker_;
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
  double samples_ = 0;  // of all channels
  int rate_ = 0;
  int rate_changes_ = 0;
  int channels_ = 0;
  float full_scale_ = 0;
  Audio audio_;
};

}  // namespace undertone
