#include <algorithm>
#include <cstring>
#include <string>

#include "decode/container.h"
#include "decode/container_sanitizer.h"
#include "error.h"

namespace undertone {
namespace {

// Identifiers of elements (RFC 9559, 5.1).
constexpr uint32_t kEbmlHeader = 0x1A45DFA3;
constexpr uint32_t kSegment = 0x18538067;
constexpr uint32_t kInfo = 0x1549A966;
constexpr uint32_t kTimestampScale = 0x2AD7B1;
constexpr uint32_t kDuration = 0x4489;
constexpr uint32_t kTracks = 0x1654AE6B;
constexpr uint32_t kTrackEntry = 0xAE;
constexpr uint32_t kCodecId = 0x86;
constexpr uint32_t kCodecPrivate = 0x63A2;
constexpr uint32_t kContentEncodings = 0x6D80;
constexpr uint32_t kContentEncoding = 0x6240;
constexpr uint32_t kContentEncodingScope = 0x5032;
constexpr uint32_t kCluster = 0x1F43B675;
constexpr uint32_t kTimestamp = 0xE7;
constexpr uint32_t kSimpleBlock = 0xA3;
constexpr uint32_t kBlockGroup = 0xA0;
constexpr uint32_t kBlock = 0xA1;
constexpr uint32_t kVoid = 0xEC;

// Durations that pages add to a browser's recording are of the wall clock.
constexpr double kMaxMissingShare = 0.02;
constexpr double kMaxMissingSeconds = 1;

constexpr size_t kMaxHeaderBytes = 12;

// Length of a variable-size integer (VINT), from the leading zeros of its first byte (RFC 8794, 4); 0: none.
size_t VintLength(uint8_t first) { return first == 0 ? 0 : static_cast<size_t>(__builtin_clz(first)) - 23; }

bool IsIdLength(size_t length) { return length >= 1 && length <= 4; }

double ReadFloat(const uint8_t* bytes, uint64_t size) {
  if (size == 8) {
    const uint64_t bits = ReadBigEndian(bytes, 8);
    double value = 0;
    std::memcpy(&value, &bits, 8);
    return value;
  }
  if (size != 4) return 0;
  const auto bits = static_cast<uint32_t>(ReadBigEndian(bytes, 4));
  float value = 0;
  std::memcpy(&value, &bits, 4);
  return value;
}

struct Element {
  uint32_t id = 0;
  size_t header_bytes = 0;  // identifier and size; 0: no element
  uint64_t size = 0;
  bool unknown_size = false;
};

Element ReadElement(const uint8_t* bytes, size_t size, size_t at) {
  Element element;
  if (at >= size) return element;
  const size_t id_length = VintLength(bytes[at]);
  if (!IsIdLength(id_length) || size - at <= id_length) return element;
  const size_t size_length = VintLength(bytes[at + id_length]);
  if (size_length == 0 || size - at < id_length + size_length) return element;
  const uint64_t mask = (uint64_t{1} << 7 * size_length) - 1;
  element.id = static_cast<uint32_t>(ReadBigEndian(bytes + at, id_length));
  element.size = ReadBigEndian(bytes + at + id_length, size_length) & mask;
  element.unknown_size = element.size == mask;
  element.header_bytes = id_length + size_length;
  return element;
}

// Times that a file declares. Ticks are of TimestampScale.
struct Times {
  double scale = 1e6;  // ns per tick
  double duration = 0;
  double cluster = 0;
  double last_block = 0;

  void Read(const Element& element, const uint8_t* body) {
    const size_t bytes = std::min<size_t>(8, element.size);
    const auto number = [&] { return static_cast<double>(ReadBigEndian(body, bytes)); };
    if (element.id == kTimestampScale) scale = number();
    if (element.id == kDuration) duration = ReadFloat(body, element.size);
    if (element.id == kTimestamp) cluster = number();
    if (element.id != kSimpleBlock && element.id != kBlock) return;
    const size_t track_bytes = element.size == 0 ? 0 : VintLength(body[0]);
    if (element.size < track_bytes + 2) return;
    const auto offset = static_cast<int16_t>(ReadBigEndian(body + track_bytes, 2));
    last_block = std::max(last_block, cluster + offset);
  }

  bool EndEarly() const {
    const double seconds = 1e-9 * scale;
    return last_block * seconds < duration * seconds * (1 - kMaxMissingShare) - kMaxMissingSeconds;
  }
};

bool HasChildren(uint32_t id) { return id == kSegment || id == kInfo || id == kCluster || id == kBlockGroup; }

// SeekHead, Tags, Chapters, Attachments, Cues
constexpr uint32_t kMasked[] = {0x114D9B74, 0x1254C367, 0x1043A770, 0x1941A469, 0x1C53BB6B};
// Sum of all Tracks elements. libavformat holds an empty child of 2 bytes in about 80.
constexpr uint64_t kMaxTracksBytes = uint64_t{4} << 20;
constexpr size_t kMinMaskedHeaderBytes = 5;  // identifiers of masked elements have 4 bytes, sizes at least 1

bool IsMasked(uint32_t id) {
  return std::find(std::begin(kMasked), std::end(kMasked), id) != std::end(kMasked);
}

bool IsTopLevel(uint32_t id) {
  return IsMasked(id) || id == kEbmlHeader || id == kSegment || id == kInfo || id == kTracks ||
         id == kCluster || id == kVoid;
}

// Turns an element with a header of at least kMinMaskedHeaderBytes into a Void with the same end.
void Mask(const Element& element, size_t at, size_t size, SanitizedContainer* sanitized) {
  const size_t length = std::min<size_t>(8, element.header_bytes - 1);
  const size_t rest = size - at - element.header_bytes;
  const uint64_t content = element.unknown_size ? rest : std::min<uint64_t>(element.size, rest);
  const uint64_t coded = (content + element.header_bytes - 1 - length) | uint64_t{1} << 7 * length;
  AddPatch(at, static_cast<uint8_t>(kVoid), sanitized);
  for (size_t i = 0; i < length; ++i)
    AddPatch(at + 1 + i, static_cast<uint8_t>(coded >> 8 * (length - 1 - i)), sanitized);
}

// Calls `visit` with each child of known size, and the range of its content.
template <typename Visit>
void ForEachChild(const uint8_t* bytes, size_t begin, size_t end, Visit visit) {
  while (begin < end) {
    const Element element = ReadElement(bytes, end, begin);
    begin += element.header_bytes;
    if (element.header_bytes == 0 || element.size > end - begin) return;
    visit(element.id, begin, begin + static_cast<size_t>(element.size));
    begin += static_cast<size_t>(element.size);
  }
}

void RequirePlainHeader(const uint8_t* bytes, size_t begin, size_t end) {
  ForEachChild(bytes, begin, end, [&](uint32_t id, size_t from, size_t to) {
    if (id == kContentEncoding) RequirePlainHeader(bytes, from, to);
    if (id != kContentEncodingScope || from == to || (bytes[to - 1] & 2) == 0) return;
    throw Error(ErrorCode::kUnsupported, "Expected a plain FLAC header in the matroska file, got a compressed one");
  });
}

// libavformat reads the comments of a FLAC header.
void SanitizeTrack(const uint8_t* bytes, size_t begin, size_t end, SanitizedContainer* sanitized) {
  constexpr size_t kStreamInfoEnd = 42;
  bool flac = false;
  ForEachChild(bytes, begin, end, [&](uint32_t id, size_t from, size_t to) {
    flac = flac || (id == kCodecId && to - from >= 6 && std::memcmp(bytes + from, "A_FLAC", 6) == 0);
  });
  if (!flac) return;
  ForEachChild(bytes, begin, end, [&](uint32_t id, size_t from, size_t to) {
    if (id == kContentEncodings) RequirePlainHeader(bytes, from, to);
    if (id != kCodecPrivate) return;
    for (size_t at = from + kStreamInfoEnd; at + 4 <= to;) at = PadFlacBlock(bytes, at, sanitized);
  });
}

}  // namespace

bool MatroskaEndsEarly(const uint8_t* bytes, size_t size, const DecodeBudget& budget) {
  Times times;
  size_t at = 0;
  while (at < size) {
    budget.Check();
    const Element element = ReadElement(bytes, size, at);
    if (element.header_bytes == 0) return size - at < kMaxHeaderBytes && IsIdLength(VintLength(bytes[at]));
    at += element.header_bytes;
    if (!element.unknown_size && element.size > size - at) return true;
    if (element.id == kSegment && !element.unknown_size) return false;
    if (HasChildren(element.id)) continue;
    if (element.unknown_size) return false;
    times.Read(element, bytes + at);
    at += static_cast<size_t>(element.size);
  }
  return times.EndEarly();
}

std::optional<double> MatroskaStart(const uint8_t* bytes, size_t size, const DecodeBudget& budget) {
  Times times;
  for (size_t at = 0; at < size;) {
    budget.Check();
    const Element element = ReadElement(bytes, size, at);
    if (element.header_bytes == 0) break;
    at += element.header_bytes;
    if (HasChildren(element.id)) continue;
    if (element.size > size - at) break;
    times.Read(element, bytes + at);
    if (element.id == kSimpleBlock || element.id == kBlock) return 1e-9 * times.scale * times.last_block;
    at += static_cast<size_t>(element.size);
  }
  return std::nullopt;
}

// Another file after a segment of known size.
bool HasSecondFile(const uint8_t* bytes, size_t size) {
  const Element header = ReadElement(bytes, size, 0);
  const size_t at = header.header_bytes + static_cast<size_t>(std::min<uint64_t>(header.size, size));
  const Element segment = ReadElement(bytes, size, at);
  if (segment.id != kSegment || segment.unknown_size || segment.size >= size) return false;
  return ReadElement(bytes, size, at + segment.header_bytes + static_cast<size_t>(segment.size)).id == kEbmlHeader;
}

bool IsMatroskaSlice(const uint8_t* bytes, size_t size) {
  constexpr int kMinElements = 3;
  const auto has_elements = [&](size_t at) {
    int count = 0;
    while (at < size && count < kMinElements) {
      const Element element = ReadElement(bytes, size, at);
      if (element.id != kCluster && element.id != kTimestamp && element.id != kSimpleBlock &&
          element.id != kBlockGroup)
        return false;
      at += element.header_bytes;
      if (element.id != kCluster) at += std::min<uint64_t>(element.size, size - at);
      ++count;
    }
    return count == kMinElements;
  };
  if (has_elements(0)) return true;
  constexpr uint8_t kClusterId[] = {0x1F, 0x43, 0xB6, 0x75};
  for (size_t at = 0; at < size; ++at) {
    const void* found = memmem(bytes + at, size - at, kClusterId, sizeof kClusterId);
    if (found == nullptr) return false;
    at = static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes);
    if (has_elements(at)) return true;
  }
  return false;
}

void SanitizeMatroska(const uint8_t* bytes, size_t size, SanitizedContainer* sanitized) {
  sanitized->has_unread_data = HasSecondFile(bytes, size);
  uint64_t tracks_bytes = 0;
  int tracks = 0;
  bool in_clusters = false;
  const auto sanitize = [&](const Element& element, size_t at) {
    in_clusters = in_clusters || element.id == kCluster;
    if (IsMasked(element.id)) Mask(element, at, size, sanitized);
    if (element.id != kTracks) return;
    tracks_bytes += std::min<uint64_t>(element.size, size);
    if (tracks_bytes > kMaxTracksBytes)
      throw Error(ErrorCode::kMalformed, "Expected at most 4 MiB of tracks in the matroska file, got more");
    const size_t begin = at + element.header_bytes;
    const size_t end = begin + static_cast<size_t>(std::min<uint64_t>(element.size, size - begin));
    ForEachChild(bytes, begin, end, [&](uint32_t id, size_t from, size_t to) {
      if (id != kTrackEntry) return;
      SanitizeTrack(bytes, from, to, sanitized);
      ++tracks;
    });
    if (tracks > kMaxStreams) {
      throw Error(ErrorCode::kUnsupported, "Expected at most " + std::to_string(kMaxStreams) +
                                               " tracks in the matroska file, got more");
    }
  };
  size_t at = 0;
  for (;;) {
    const Element element = ReadElement(bytes, size, at);
    if (element.header_bytes == 0 || !IsTopLevel(element.id)) break;
    sanitize(element, at);
    if (element.id != kSegment && (element.unknown_size || element.size > size - at - element.header_bytes))
      break;
    at += element.header_bytes + (element.id == kSegment ? 0 : static_cast<size_t>(element.size));
  }
  // In corrupt data before the first cluster libavformat searches for the next identifier. After one it
  // builds no lists.
  for (; !in_clusters && at < size; ++at) {
    const Element element = ReadElement(bytes, size, at);
    if (element.header_bytes >= kMinMaskedHeaderBytes) sanitize(element, at);
  }
}

}  // namespace undertone
