#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace undertone {

enum class ContainerFormat { kWav, kMp3, kAdts, kFlac, kOgg, kMatroska, kMp4, kAiff, kCaf, kAmr, kAu, kW64 };

struct ProbeResult {
  ContainerFormat format;
  std::string container;  // as in Source
  size_t start;           // offset of the container, after an ID3 tag or leading junk
  bool skips_data = false;  // junk before the first frame
};

// Identifies the container by its content. Throws kEmpty without bytes, kMalformed for an ID3 tag without
// audio and kUnsupported for other files.
ProbeResult Probe(const uint8_t* bytes, size_t size);

// Whether a stream of MPEG or ADTS frames ends inside one. Searches the last 64 KiB.
bool EndsInsideFrame(const uint8_t* bytes, size_t size, ContainerFormat format);

// Whether a stream of MPEG or ADTS frames has other data before more frames. Tags of ID3 do not count.
bool HasDataBetweenFrames(const uint8_t* bytes, size_t size, ContainerFormat format);

}  // namespace undertone
