#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

extern "C" {
#include <libavutil/crc.h>
}

#include "decode/container_sanitizer.h"
#include "decode/ogg_pages.h"

namespace undertone {
namespace {

constexpr size_t kMostDamaged =
    1000;  // pages, of each of which libav sums up to 64 KiB before it looks again
constexpr size_t kMostStreams = 64;
constexpr uint8_t kContinued = 1;
constexpr size_t kSum = 22;  // where a page has its checksum

enum class Coding { kOpus, kVorbis, kFlac, kOther };

struct Stream {
  uint32_t serial;
  Coding coding;
  size_t packets;
};

struct Packet {
  size_t at;
  std::string_view start;  // what of it lies in the page
};

Coding CodingOf(std::string_view packet) {
  const auto begins = [&](std::string_view magic) { return packet.substr(0, magic.size()) == magic; };
  if (begins("OpusHead")) return Coding::kOpus;
  if (begins("\1vorbis")) return Coding::kVorbis;
  return begins(
             "\x7F"
             "FLAC")
             ? Coding::kFlac
             : Coding::kOther;
}

// Where a packet's comments begin, 0 for a packet without any. Of codings that are not taken, whose first
// packets may be anything, all is hidden.
size_t CommentsAt(const Stream& stream, std::string_view packet) {
  switch (stream.coding) {
    case Coding::kOpus:
      return packet.substr(0, 8) == "OpusTags" ? 8 : 0;
    case Coding::kVorbis:
      return packet.substr(0, 7) == "\3vorbis" ? 7 : 0;
    case Coding::kFlac:
      return !packet.empty() && (packet[0] & 0x7F) == 4 ? 4 : 0;
    case Coding::kOther:
      return stream.packets == 1 || stream.packets == 2 ? 1 : 0;
  }
  return 0;
}

// The checksum of RFC 3533, without the one that the page has.
uint32_t Sum(const uint8_t* page, size_t size) {
  static constexpr uint8_t kNone[4] = {};
  const AVCRC* table = av_crc_get_table(AV_CRC_32_IEEE);
  uint32_t sum = av_crc(table, 0, page, kSum);
  sum = av_crc(table, sum, kNone, sizeof kNone);
  // av_crc keeps sums of this kind with their bytes the other way round.
  return __builtin_bswap32(av_crc(table, sum, page + kSum + 4, size - kSum - 4));
}

bool IsWhole(const uint8_t* page, size_t size) {
  const uint32_t sum = Sum(page, size);
  return std::memcmp(&sum, page + kSum, sizeof sum) == 0;
}

class Walk {
 public:
  Walk(const uint8_t* bytes, size_t size, Veil* veil) : bytes_(bytes), size_(size), veil_(veil) {}

  void Run() {
    size_t damaged = 0;
    for (size_t at = 0; at < size_;) {
      const size_t length = OggPageLength(bytes_, size_, at);
      if (length > size_ - at) return;
      if (length > 0 && IsWhole(bytes_ + at, length)) {
        TakePage(at, length);
        at += length;
        continue;
      }
      damaged += length > 0 ? 1 : 0;
      if (damaged > kMostDamaged) {
        veil_->size = at;
        return;
      }
      at = NextOggPage(bytes_, size_, at + 1);
    }
  }

 private:
  void TakePage(size_t at, size_t length) {
    std::vector<uint8_t> changed;
    for (const Packet& packet : PacketsOf(at)) {
      Stream* stream = StreamOf(at, packet.start);
      if (stream == nullptr) continue;
      const size_t comments = CommentsAt(*stream, packet.start);
      ++stream->packets;
      if (comments == 0) continue;
      if (changed.empty()) changed.assign(bytes_ + at, bytes_ + at + length);
      // No vendor and no comments, whatever follows.
      const size_t end =
          std::min(comments + (stream->coding == Coding::kOther ? 15 : 8), packet.start.size());
      const size_t from = packet.at - at + (stream->coding == Coding::kOther ? 0 : std::min(comments, end));
      std::fill(changed.begin() + static_cast<ptrdiff_t>(from),
                changed.begin() + static_cast<ptrdiff_t>(packet.at - at + end), uint8_t{0});
    }
    if (!changed.empty()) Show(at, changed);
  }

  void Show(size_t at, std::vector<uint8_t> page) {
    const uint32_t sum = Sum(page.data(), page.size());
    std::memcpy(page.data() + kSum, &sum, sizeof sum);
    for (size_t i = 0; i < page.size(); ++i) {
      if (page[i] != bytes_[at + i]) ShowByte(at + i, page[i], veil_);
    }
  }

  // Those that begin in the page.
  std::vector<Packet> PacketsOf(size_t at) const {
    const uint8_t* page = bytes_ + at;
    const size_t segments = page[kOggHead - 1];
    std::vector<Packet> packets;
    bool begins = (page[5] & kContinued) == 0;
    size_t from = at + kOggHead + segments;
    for (size_t i = 0; i < segments; ++i) {
      const size_t length = page[kOggHead + i];
      if (begins) packets.push_back({from, {}});
      if (!packets.empty()) {
        const size_t whole = from + length - packets.back().at;
        packets.back().start = {reinterpret_cast<const char*>(bytes_) + packets.back().at, whole};
      }
      begins = length < 255;
      from += length;
    }
    return packets;
  }

  Stream* StreamOf(size_t at, std::string_view packet) {
    uint32_t serial = 0;
    std::memcpy(&serial, bytes_ + at + 14, sizeof serial);
    for (Stream& stream : streams_) {
      if (stream.serial == serial) return &stream;
    }
    if (streams_.size() == kMostStreams) return nullptr;
    streams_.push_back({serial, CodingOf(packet), 0});
    return &streams_.back();
  }

  const uint8_t* bytes_;
  size_t size_;
  Veil* veil_;
  std::vector<Stream> streams_;
};

}  // namespace

void VeilOgg(const uint8_t* bytes, size_t size, Veil* veil) { Walk(bytes, size, veil).Run(); }

}  // namespace undertone
