#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace undertone {

enum class ContainerFormat { kWav, kMp3, kAdts, kFlac, kOgg, kMatroska, kMp4, kAiff, kCaf, kAmr };

struct ProbeResult {
  ContainerFormat format;
  std::string container;  // as in Source
  size_t start;           // offset of the container, after an ID3 tag or leading junk
};

// Identifies the container by its content. Throws kEmpty without bytes, kMalformed for an ID3 tag without
// audio and kUnsupported for other files.
ProbeResult Probe(const uint8_t* bytes, size_t size);

// Length in bytes of the frame whose header is at `bytes` (at least 7 readable); 0: no header.
size_t MpegFrameLength(const uint8_t* bytes);
size_t AdtsFrameLength(const uint8_t* bytes);

}  // namespace undertone
