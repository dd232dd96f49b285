#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

extern "C" {
#include <libavutil/crc.h>
}

#include "decode/container.h"
#include "decode/container_sanitizer.h"
#include "decode/ogg_page.h"

namespace undertone {
namespace {

constexpr size_t kMaxLinks = 1000;
constexpr size_t kMaxStreams = 64;  // that are open at a time, or whose comments are blanked

enum class Codec { kOpus, kVorbis, kFlac, kOther };

struct Stream {
  uint32_t serial;
  Codec codec;
  size_t packets;
};

struct Packet {
  size_t at;               // in the page
  std::string_view start;  // the part that lies in the page
};

struct Range {
  size_t begin;
  size_t end;
  uint8_t byte = 0;  // that replaces all of them
};

bool StartsWith(std::string_view packet, std::string_view magic) {
  return packet.substr(0, magic.size()) == magic;
}

Codec IdentifyCodec(std::string_view packet) {
  if (StartsWith(packet, "OpusHead")) return Codec::kOpus;
  if (StartsWith(packet, "\1vorbis")) return Codec::kVorbis;
  return StartsWith(packet, "\177FLAC") ? Codec::kFlac : Codec::kOther;
}

// The bytes of a packet to replace: vendor length and comment count become 0. libavformat reads comments from
// every Vorbis packet that begins with 3: after the headers the 3 becomes 7, which it refuses as well. For other
// codecs the first 16 bytes of the second and third packet become 0, because they may hold comments.
std::optional<Range> CommentHeader(const Stream& stream, std::string_view packet) {
  const auto range = [&](bool has_comments, size_t begin, size_t length) -> std::optional<Range> {
    if (!has_comments) return std::nullopt;
    return Range{std::min(begin, packet.size()), std::min(begin + length, packet.size())};
  };
  switch (stream.codec) {
    case Codec::kOpus:
      return range(StartsWith(packet, "OpusTags"), 8, 8);
    case Codec::kVorbis:
      if (stream.packets > 1 && StartsWith(packet, "\3")) return Range{0, 1, 7};
      return range(StartsWith(packet, "\3"), 7, 8);
    case Codec::kFlac:
      return range(!packet.empty() && (packet[0] & 0x7F) == 4, 4, 8);
    case Codec::kOther:
      break;
  }
  return range(stream.packets == 1 || stream.packets == 2, 0, 16);
}

// Over the page with its CRC field at 0.
uint32_t PageCrc(const uint8_t* page, size_t size) {
  static constexpr uint8_t kZeros[4] = {};
  const AVCRC* table = av_crc_get_table(AV_CRC_32_IEEE);
  uint32_t crc = av_crc(table, 0, page, kCrcOffset);
  crc = av_crc(table, crc, kZeros, sizeof kZeros);
  crc = av_crc(table, crc, page + kCrcOffset + 4, size - kCrcOffset - 4);
  return __builtin_bswap32(crc);  // av_crc returns this polynomial's values byte-swapped
}

bool HasValidCrc(const uint8_t* page, size_t size) {
  const uint32_t crc = PageCrc(page, size);
  return std::memcmp(&crc, page + kCrcOffset, sizeof crc) == 0;
}

// The packets that begin in the page.
std::vector<Packet> PacketsOf(const uint8_t* page) {
  const size_t segments = page[kHeaderBytes - 1];
  std::vector<Packet> packets;
  bool begins = (page[kFlagsOffset] & kContinuedFlag) == 0;
  size_t at = kHeaderBytes + segments;
  for (size_t i = 0; i < segments; ++i) {
    const size_t length = page[kHeaderBytes + i];
    if (begins) packets.push_back({at, {}});
    if (!packets.empty()) {
      const size_t start = packets.back().at;
      packets.back().start = {reinterpret_cast<const char*>(page) + start, at + length - start};
    }
    begins = length < 255;
    at += length;
  }
  return packets;
}

// The page's stream; null where there are too many.
Stream* FindStream(const uint8_t* page, std::string_view packet, std::vector<Stream>* streams) {
  const uint32_t serial = Serial(page);
  for (Stream& stream : *streams) {
    if (stream.serial == serial) return &stream;
  }
  if (streams->size() == kMaxStreams) return nullptr;
  streams->push_back({serial, IdentifyCodec(packet), 0});
  return &streams->back();
}

void SanitizePage(const uint8_t* bytes, size_t at, size_t length, std::vector<Stream>* streams,
                  SanitizedContainer* sanitized) {
  std::vector<uint8_t> page;
  for (const Packet& packet : PacketsOf(bytes + at)) {
    Stream* stream = FindStream(bytes + at, packet.start, streams);
    if (stream == nullptr) continue;
    const std::optional<Range> comments = CommentHeader(*stream, packet.start);
    ++stream->packets;
    if (!comments) continue;
    if (page.empty()) page.assign(bytes + at, bytes + at + length);
    std::fill_n(page.begin() + static_cast<ptrdiff_t>(packet.at + comments->begin),
                comments->end - comments->begin, comments->byte);
  }
  if (page.empty()) return;
  const uint32_t crc = PageCrc(page.data(), page.size());
  std::memcpy(page.data() + kCrcOffset, &crc, sizeof crc);
  for (size_t i = 0; i < page.size(); ++i) {
    if (page[i] != bytes[at + i]) AddPatch(at + i, page[i], sanitized);
  }
}

}  // namespace

std::vector<size_t> OggLinks(const uint8_t* bytes, size_t size) {
  std::vector<size_t> links{0};
  bool in_headers = true;  // a link starts with the first page of each of its streams, and repeats them before samples
  for (size_t at = 0; at < size && links.size() < kMaxLinks;) {
    const size_t length = PageLength(bytes, size, at);
    if (length == 0) {
      at = NextPage(bytes, size, at + 1);
      continue;
    }
    const bool begins = (bytes[at + kFlagsOffset] & kFirstPageFlag) != 0;
    if (begins && !in_headers) links.push_back(at);
    in_headers = begins || (in_headers && Granule(bytes + at) <= 0);
    at += length;
  }
  return links;
}

bool OggContinues(const uint8_t* bytes, size_t begin, size_t next, size_t end) {
  if (Serial(bytes + begin) != Serial(bytes + next)) return false;
  // The last and the first granule position that counts samples.
  int64_t last = 0;
  for (size_t at = begin; at < next;) {
    const size_t length = PageLength(bytes, next, at);
    if (length > 0 && Granule(bytes + at) > 0) last = Granule(bytes + at);
    at = length > 0 ? at + length : NextPage(bytes, next, at + 1);
  }
  for (size_t at = next; at < end;) {
    const size_t length = PageLength(bytes, end, at);
    if (length > 0 && Granule(bytes + at) > 0) return last > 0 && Granule(bytes + at) > last;
    at = length > 0 ? at + length : NextPage(bytes, end, at + 1);
  }
  return false;
}

bool OggEndsEarly(const uint8_t* bytes, size_t size, size_t stream) {
  std::vector<uint32_t> serials;  // of the streams up to that one
  bool open = false;              // before its last page
  for (size_t at = 0; at < size;) {
    const size_t length = PageLength(bytes, size, at);
    if (length > size - at) return true;
    if (length == 0) {
      at = NextPage(bytes, size, at + 1);
      continue;
    }
    const uint8_t flags = bytes[at + kFlagsOffset];
    const bool first = (flags & kFirstPageFlag) != 0;
    if (first && serials.size() <= stream) serials.push_back(Serial(bytes + at));
    if (serials.size() > stream && Serial(bytes + at) == serials[stream])
      open = (open || first) && (flags & kLastPageFlag) == 0;
    at += length;
  }
  return open;
}

// Like libavformat, skips pages with an invalid CRC and searches inside them. Each can cost the CRC of 64
// KiB, so the budget is checked per page.
void SanitizeOgg(const uint8_t* bytes, size_t size, const DecodeBudget& budget,
                 SanitizedContainer* sanitized) {
  std::vector<Stream> streams;
  for (size_t at = 0; at < size;) {
    const size_t length = PageLength(bytes, size, at);
    if (length > size - at) return;
    if (length == 0 || !HasValidCrc(bytes + at, length)) {
      budget.Check();
      at = NextPage(bytes, size, at + 1);
      continue;
    }
    const bool begins = (bytes[at + kFlagsOffset] & kFirstPageFlag) != 0;
    const auto is_stream = [&](const Stream& stream) { return stream.serial == Serial(bytes + at); };
    if (begins && std::any_of(streams.begin(), streams.end(), is_stream)) {
      AddPatch(at, 0, sanitized);  // libavformat refuses a repeated header, and skips what is no page
    } else {
      SanitizePage(bytes, at, length, &streams, sanitized);
    }
    at += length;
  }
}

}  // namespace undertone
