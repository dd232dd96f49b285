#pragma once

#include <cstddef>
#include <string>

namespace undertone {

struct DecodeStatus {
  size_t packets = 0;      // of the audio stream, from libav
  bool truncated = false;  // ended early or in corrupt data
};

// Decodes one recording into a sink, step by step.
class Decoder {
 public:
  virtual ~Decoder() = default;

  // Writes the next frame or block. Returns false at the end; Sink::Finish has yet to be called. Throws
  // kMalformed, kUnsupported, and what the sink throws.
  virtual bool Step() = 0;

  // Complete once Step has returned false.
  virtual DecodeStatus status() const = 0;

  // FFmpeg's name, available at once.
  virtual std::string codec() const = 0;
};

}  // namespace undertone
