#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace undertone {

enum class Kind { kWav, kMp3, kAdts, kFlac, kOgg, kMatroska, kMp4, kAiff, kCaf, kAmr };

struct Sniffed {
  Kind kind;
  std::string container;  // as Source names it
  size_t start;  // offset of the first byte that belongs to the container (past an ID3 tag or leading junk)
};

// Tells the container from the content alone. Throws kEmpty without bytes and kUnsupported, naming what the
// bytes are where that is known, for everything else.
Sniffed Sniff(const uint8_t* bytes, size_t size);

// Length in bytes of the MPEG audio or ADTS frame whose header lies at `bytes` (at least 7 readable); 0 for
// none.
size_t MpegFrameLength(const uint8_t* bytes);
size_t AdtsFrameLength(const uint8_t* bytes);

}  // namespace undertone
