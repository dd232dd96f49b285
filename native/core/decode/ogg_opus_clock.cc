#include "decode/ogg_opus_clock.h"

#include "decode/ogg_page.h"

namespace undertone {
namespace {

// Samples at 48 kHz. Positions that go further back than the padding at the end of a stream begin anew.
constexpr int64_t kMaxFirstGap = kMaxOggStartSeconds * 48000;
constexpr int64_t kMaxOverlap = 48000;
constexpr int64_t kMaxGranule = int64_t{1} << 60;

// Duration in samples at 48 kHz (RFC 6716, 3.1).
int64_t OpusDuration(const uint8_t* packet, size_t size) {
  static constexpr int kSilk[] = {480, 960, 1920, 2880};
  static constexpr int kCelt[] = {120, 240, 480, 960};
  if (size == 0 || IsOpusHeader(packet, size)) return 0;
  const int config = packet[0] >> 3;
  const int frame = config < 12 ? kSilk[config & 3] : config < 16 ? kSilk[config & 1] : kCelt[config & 3];
  const int code = packet[0] & 3;
  if (code < 3) return code == 0 ? frame : 2 * frame;
  return size < 2 ? 0 : frame * (packet[1] & 63);
}

}  // namespace

bool IsOpusHeader(const uint8_t* packet, size_t size) {
  return size >= 8 && (std::memcmp(packet, "OpusHead", 8) == 0 || std::memcmp(packet, "OpusTags", 8) == 0);
}

int64_t OggOpusClock::Timestamp(size_t page, const uint8_t* packet, size_t size) {
  if (page != page_) {
    const bool is_first = page_ == SIZE_MAX;
    page_ = page;
    packet_ = gap_at_ = 0;
    gap_ = 0;
    ReadPage(is_first);
  }
  if (packet_++ == gap_at_) position_ += gap_;
  const int64_t timestamp = position_;
  position_ += OpusDuration(packet, size);
  return timestamp;
}

void OggOpusClock::ReadPage(bool is_first) {
  const size_t length = page_ < size_ ? PageLength(bytes_, size_, page_) : 0;
  if (length == 0 || length > size_ - page_) return;
  const uint8_t* page = bytes_ + page_;
  const size_t segments = page[kHeaderBytes - 1];
  bool begins = (page[kFlagsOffset] & kContinuedFlag) == 0;  // here, not on the page before
  int64_t duration = 0;
  size_t packets = 0;
  size_t smallest = SIZE_MAX;
  size_t begin = kHeaderBytes + segments;
  size_t end = begin;
  for (size_t i = 0; i < segments; ++i) {
    end += page[kHeaderBytes + i];
    if (page[kHeaderBytes + i] == 255) continue;
    const size_t bytes = end - begin;
    if (begins) duration += OpusDuration(page + begin, bytes);
    // A gap before the first packet of a stream could not be seen.
    if (begins && last_bytes_ + bytes < smallest && !(is_first && packets == 0)) {
      smallest = last_bytes_ + bytes;
      gap_at_ = packets;
    }
    packets += begins ? 1 : 0;
    last_bytes_ = bytes;
    begin = end;
    begins = true;
  }
  const int64_t granule = Granule(page);
  if (duration == 0 || granule < 0 || granule > kMaxGranule) return;
  const int64_t gap = granule - duration - position_;
  if (gap < -kMaxOverlap || (is_first && gap > (alone_ ? kMaxFirstGap : 0))) {
    position_ += gap;
  } else if (gap > 0) {
    gap_ = gap;
  }
}

}  // namespace undertone
