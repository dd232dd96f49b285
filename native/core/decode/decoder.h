#pragma once

#include <cstddef>
#include <string>

namespace undertone {

struct DecodeResult {
  size_t packets = 0;      // of the audio stream
  bool truncated = false;  // ended before the header's duration, or in damage
};

// Decodes one recording into a sink, step by step.
class Decoder {
 public:
  virtual ~Decoder() = default;

  // Writes the samples of the next frame or block. Returns false once there is none, with the sink still
  // holding the last samples. Throws what the sink throws, and kMalformed or kUnsupported.
  virtual bool Step() = 0;

  // Complete once Step has returned false.
  virtual DecodeResult result() const = 0;

  // FFmpeg's name, known from the start.
  virtual std::string codec() const = 0;
};

}  // namespace undertone
