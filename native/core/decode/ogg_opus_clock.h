#pragma once

#include <cstddef>
#include <cstdint>

namespace undertone {

// A lone stream of Ogg that begins later was cut out of a longer one.
constexpr int kMaxOggStartSeconds = 2;

// Whether a packet is one of the two headers, which some servers repeat inside a stream.
bool IsOpusHeader(const uint8_t* packet, size_t size);

// Timestamps of the packets of an Opus stream in Ogg. A page has one granule position, that of its end (RFC 7845, 4).
// Where it is further on than the packets of the page last, some before the last one are missing. They are taken to be
// between the smallest packets, which are those of a pause; libavformat puts them after the first packet.
class OggOpusClock {
 public:
  // `alone`: whether the file has no other stream, which may begin before this one.
  OggOpusClock(const uint8_t* bytes, size_t size, bool alone) : bytes_(bytes), size_(size), alone_(alone) {}

  // Returns the timestamp of the next packet, in samples at 48 kHz. `page`: offset of the page in which it begins.
  int64_t Timestamp(size_t page, const uint8_t* packet, size_t size);

 private:
  void ReadPage(bool is_first);

  const uint8_t* bytes_;
  size_t size_;
  bool alone_;
  size_t page_ = SIZE_MAX;  // of the last packet
  size_t packet_ = 0;       // next one, counted in its page
  int64_t position_ = 0;    // at the end of the last packet
  size_t last_bytes_ = 0;   // of the last packet of the page
  size_t gap_at_ = 0;       // packet of the page that follows the gap
  int64_t gap_ = 0;         // samples that are missing in the page
};

}  // namespace undertone
