#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "error.h"

namespace undertone {

// Value of `channel` of an IncrementalDecoder: one result per channel. Recordings without exactly two
// channels are refused.
constexpr int kEachOfTwoChannels = -2;

// The caller sets every member.
struct DecodeOptions {
  int sample_rate = 0;     // of the result, Hz
  int channel = -1;        // 0-based; -1 averages all channels
  double max_seconds = 0;  // of source audio, inclusive
  int max_channels = 0;
  int min_source_rate = 0;                       // Hz
  int max_source_rate = 0;                       // Hz
  double deadline_seconds = 0;                   // wall clock, from the call; 0: none
  const std::atomic<int32_t>* cancel = nullptr;  // may be null; a non-zero value stops the decode
  int track = -1;  // 0-based audio track; -1: the one that the file marks as default, else the first that decodes
};

// Audio that is missing from the file, as its timestamps show. Silence stands in its place.
struct Gap {
  double start;  // s, from the start of the recording
  double end;
};

// The file before conversion. A file may change its rate and channels; these are the first ones.
struct Source {
  std::string container;  // wav, mp3, mp4, mov, 3gp, adts, flac, ogg, webm, matroska, aiff, caf, amr,
                          // au, w64
  std::string codec;      // FFmpeg's name: pcm_s16le, mp3, aac, opus, ...
  int sample_rate = 0;    // Hz
  int channels = 0;
  double clipped_ratio = 0;  // share of samples in runs of >= 3 at >= 0.999 of full scale, all channels
  double channel_correlation =
      1;                   // lowest Pearson correlation of a channel with the first; 1 for mono and silence
  bool truncated = false;  // the file ends early or in corrupt data
  bool unread_data = false;  // damaged frames, or data before or after the recording
  int track = 0;           // the decoded audio track, and how many the file has
  int tracks = 1;
};

struct Audio {
  std::vector<float> samples;  // mono, full scale 1, finite; lossy and float sources may pass 1
  int sample_rate = 0;         // Hz
  std::vector<Gap> gaps;
  Source source;
};

// Decodes a whole recording in memory. Identifies the format by the content. Thread-safe. Throws Error and
// std::bad_alloc.
Audio Decode(const uint8_t* bytes, size_t size, const DecodeOptions& options);

// Decodes a recording of any length in blocks, in memory independent of its length. The samples equal those
// of Decode. Deadline and CPU budget count time inside the calls.
class IncrementalDecoder {
 public:
  // Keeps pointers to `bytes` and `options.cancel`. `max_samples`: samples per call, at least 1. Throws
  // what Decode throws.
  IncrementalDecoder(const uint8_t* bytes, size_t size, const DecodeOptions& options, size_t max_samples);
  ~IncrementalDecoder();
  IncrementalDecoder(const IncrementalDecoder&) = delete;
  IncrementalDecoder& operator=(const IncrementalDecoder&) = delete;

  // Returns the next samples: fewer at the end, none after it; with kEachOfTwoChannels those of the first
  // channel, then as many of the second. If decoding fails, the calls first return the complete blocks
  // before the error; the next call and every later one throw what Decode throws.
  std::vector<float> Next();

  // Returns the gaps that decoding has found since the last call; their ends may be after the last samples.
  std::vector<Gap> NextGaps();

  // Whether Next has returned all samples. False after samples before an error.
  bool ended() const;

  // Duration that the file declares, in seconds; 0: none.
  double declared_seconds() const;

  // Complete once ended.
  Source source() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Names and versions of the loaded libraries that decode: libavformat, libavcodec, libavutil.
std::vector<std::pair<std::string, std::string>> DecoderVersions();

}  // namespace undertone
