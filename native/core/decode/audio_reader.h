#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "decode/probe.h"
#include "decode/sink.h"
#include "decode/track.h"

namespace undertone {

struct ReadStatus {
  size_t packets = 0;      // of the audio stream, from libavformat
  bool truncated = false;  // ended early or in corrupt data
  bool unread = false;     // some data was not decoded: damaged, or after the recording
};

// Reads one recording into a sink, step by step.
class AudioReader {
 public:
  virtual ~AudioReader() = default;

  // Writes the next frame or block. Returns false at the end; Sink::Finish has yet to be called. Throws
  // kMalformed, kUnsupported, and what the sink throws.
  virtual bool Step() = 0;

  // Complete once Step has returned false.
  virtual ReadStatus status() const = 0;

  // FFmpeg's name, available at once.
  virtual std::string codec() const = 0;

  virtual SelectedTrack track() const { return {}; }
};

// Opens a WAV of PCM, float, A-law or mu-law without libav; null: another codec. libav needs 4 to 40 times as
// long (1.5 times for 24 bits), because its demuxer probes 16-bit samples for S/PDIF.
// Throws what the sink throws, kMalformed without a format, kEmpty without samples.
std::unique_ptr<AudioReader> OpenWav(const uint8_t* bytes, size_t size, Sink* sink);

// Opens an audio track of the container with libav: the one that the options choose, else the first that
// decodes, of those that the file marks as default before others. The links of a chained Ogg file are read in
// turn; a later link that is corrupt or has an unsupported codec ends the file as truncated. Throws
// kUnsupported for other codecs, kMalformed for unreadable headers, kTrack, and what the sink throws.
std::unique_ptr<AudioReader> OpenLibav(const uint8_t* bytes, size_t size, const ProbeResult& probe,
                                       Sink* sink);

}  // namespace undertone
