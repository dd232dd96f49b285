#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "error.h"

namespace undertone {

// Nothing here has a default that matters: the caller states every limit.
struct DecodeOptions {
  int sample_rate = 0;     // Hz of the result
  int channel = -1;        // 0-based; -1 averages all channels
  double max_seconds = 0;  // of source audio; one sample more is kTooLong
  int max_channels = 0;
  int min_source_rate = 0;                       // Hz
  int max_source_rate = 0;                       // Hz
  double deadline_seconds = 0;                   // wall clock from the call on; 0 = none
  const std::atomic<int32_t>* cancel = nullptr;  // may be null; any other value than zero stops the decode
};

// What the bytes were before they became mono samples. `sample_rate` and `channels` are those of the first
// decoded audio; a file may change both on its way.
struct Source {
  std::string container;  // wav, mp3, mp4, mov, 3gp, adts, flac, ogg, webm, matroska, aiff, caf, amr
  std::string codec;      // FFmpeg's name: pcm_s16le, mp3, aac, opus, ...
  int sample_rate = 0;    // Hz
  int channels = 0;
  double clipped_ratio = 0;  // share of samples, all channels, in runs of >= 3 at >= 0.999 of full scale
  double channel_correlation =
      1;                   // lowest Pearson correlation of a channel with the first; 1 for mono and silence
  bool truncated = false;  // the file ends before its own header says, or broke off in damage
};

struct Audio {
  std::vector<float> samples;  // mono, full scale 1, finite; lossy and float sources may pass 1
  int sample_rate = 0;         // Hz
  Source source;
};

// Decodes a whole recording held in memory, whatever its name: the kind is sniffed from the content. Calls
// may run on several threads at once. Throws Error and nothing else but std::bad_alloc.
Audio Decode(const uint8_t* bytes, size_t size, const DecodeOptions& options);

// Who takes samples while a decode goes on. Both are called by the thread that decodes, and may throw.
struct Taker {
  std::function<void(double seconds)> expect;  // how long the recording claims to be, if it does
  std::function<void(const std::vector<float>& samples)>
      take;  // the next samples of the result, a few thousand
};

// Like Decode, in memory that does not grow with the recording: no sample is kept.
Source DecodeTo(const uint8_t* bytes, size_t size, const DecodeOptions& options, const Taker& taker);

}  // namespace undertone
