#include "decode/container.h"

#include <algorithm>
#include <cstring>

#include "decode/sample_chunk.h"
#include "error.h"

namespace undertone {
namespace {

constexpr size_t kMaxPatches = 1'000'000;  // 16 bytes each, and as much again to sort them

constexpr uint8_t kLastFlacBlock = 0x80;

void SanitizeFlac(const uint8_t* bytes, size_t size, SanitizedContainer* sanitized) {
  bool last = false;
  for (size_t at = 4; !last && at + 4 <= size;) {
    last = (bytes[at] & kLastFlacBlock) != 0;
    at = PadFlacBlock(bytes, at, sanitized);
  }
}

// ID3v2 tags, which libavformat also reads between frames and in chunks. Their version becomes 1, with which it
// skips a tag as a whole.
void SanitizeId3(const uint8_t* bytes, size_t size, SanitizedContainer* sanitized) {
  constexpr size_t kHeader = 10;
  const auto is_tag = [](const uint8_t* tag) {
    return tag[3] >= 2 && tag[3] <= 4 && tag[4] != 0xFF && ((tag[6] | tag[7] | tag[8] | tag[9]) & 0x80) == 0;
  };
  for (size_t at = 0; at + kHeader <= size; ++at) {
    const void* found = memmem(bytes + at, size - at, "ID3", 3);
    if (found == nullptr) return;
    at = static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes);
    if (at + kHeader <= size && is_tag(bytes + at)) AddPatch(at + 3, 1, sanitized);
  }
}

// Sums the packet counts of the packet tables. A chunk has a name of 4 bytes and a size of 8.
double DeclaredCafPackets(const uint8_t* bytes, size_t size) {
  constexpr size_t kHeader = 12;
  double packets = 0;
  for (size_t at = 8; at + kHeader + 8 <= size;) {
    const bool is_table = std::memcmp(bytes + at, "pakt", 4) == 0;
    if (is_table) packets += static_cast<double>(ReadBigEndian(bytes + at + kHeader, 8));
    const uint64_t content = ReadBigEndian(bytes + at + 4, 8);
    if (content > size - at - kHeader) break;
    at += kHeader + static_cast<size_t>(content);
  }
  return packets;
}

constexpr size_t kW64ChunkBytes = 24;  // a GUID of 16 bytes, and the size with this header

uint64_t W64ChunkSize(const uint8_t* chunk) { return __builtin_bswap64(ReadBigEndian(chunk + 16, 8)); }

// Offset of the chunk that ends beyond the file; `size`: none.
size_t FindCutW64Chunk(const uint8_t* bytes, size_t size) {
  for (size_t at = 40; at < size && size - at >= kW64ChunkBytes;) {
    const uint64_t chunk = W64ChunkSize(bytes + at);
    if (chunk > size - at) return at;
    if (chunk < kW64ChunkBytes) break;
    at += (static_cast<size_t>(chunk) + 7) & ~size_t{7};
  }
  return size;
}

// The cut chunk ends with the file. libavformat would look for the next one inside it.
void SanitizeW64(const uint8_t* bytes, size_t size, SanitizedContainer* sanitized) {
  const size_t at = FindCutW64Chunk(bytes, size);
  for (size_t i = 0; at < size && i < 8; ++i)
    AddPatch(at + 16 + i, static_cast<uint8_t>(uint64_t{size - at} >> 8 * i), sanitized);
}

// Whether the cut chunk declares a size: writers to a pipe leave the largest one.
bool W64EndsEarly(const uint8_t* bytes, size_t size) {
  constexpr uint64_t kUnknownSize = uint64_t{1} << 62;
  const size_t at = FindCutW64Chunk(bytes, size);
  return at < size && W64ChunkSize(bytes + at) < kUnknownSize;
}

// The headers are "#!AMR" and "#!AMR-WB", each with a line feed.
bool AmrEndsEarly(const uint8_t* bytes, size_t size) {
  const bool wide = bytes[5] == '-';
  size_t at = wide ? 9 : 6;
  while (at < size) at += static_cast<size_t>(ReadAmrFrame(bytes[at], wide).bytes);
  return at > size;
}

}  // namespace

// 3GPP TS 26.101 and 26.201; RFC 4867, 5.3.
AmrFrame ReadAmrFrame(uint8_t header, bool wide) {
  static constexpr int kNarrowBytes[16] = {13, 14, 16, 18, 20, 21, 27, 32, 6, 1, 1, 1, 1, 1, 1, 1};
  static constexpr int kWideBytes[16] = {18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 1, 1, 1, 1, 1, 1};
  const int type = header >> 3 & 15;
  return wide ? AmrFrame{kWideBytes[type], type >= 9} : AmrFrame{kNarrowBytes[type], type >= 8};
}

size_t PadFlacBlock(const uint8_t* bytes, size_t at, SanitizedContainer* sanitized) {
  constexpr uint8_t kPadding = 1;
  if ((bytes[at] & ~kLastFlacBlock) > kPadding)
    AddPatch(at, static_cast<uint8_t>((bytes[at] & kLastFlacBlock) | kPadding), sanitized);
  return at + 4 + ReadBigEndian(bytes + at + 1, 3);
}

void AddPatch(size_t at, uint8_t byte, SanitizedContainer* sanitized) {
  if (sanitized->patches.size() == kMaxPatches)
    throw Error(ErrorCode::kMalformed,
                "Expected mostly audio in the file, got a million bytes of metadata headers");
  sanitized->patches.push_back({at, byte});
}

SanitizedContainer SanitizeContainer(const uint8_t* bytes, size_t size, ContainerFormat format,
                                     const TrackChoice& choice, const DecodeBudget& budget) {
  SanitizedContainer sanitized;
  if (format == ContainerFormat::kFlac) SanitizeFlac(bytes, size, &sanitized);
  if (format == ContainerFormat::kAdts || format == ContainerFormat::kWav || format == ContainerFormat::kAiff)
    SanitizeId3(bytes, size, &sanitized);
  if (format == ContainerFormat::kWav || format == ContainerFormat::kAiff || format == ContainerFormat::kCaf ||
      format == ContainerFormat::kW64)
    SanitizeSampleChunk(bytes, size, format, &sanitized);
  if (format == ContainerFormat::kMp3 || format == ContainerFormat::kAdts)
    sanitized.has_unread_data = HasDataBetweenFrames(bytes, size, format);
  if (format == ContainerFormat::kCaf) sanitized.declared_packets = DeclaredCafPackets(bytes, size);
  if (format == ContainerFormat::kOgg) SanitizeOgg(bytes, size, budget, &sanitized);
  if (format == ContainerFormat::kMatroska) SanitizeMatroska(bytes, size, &sanitized);
  if (format == ContainerFormat::kW64) SanitizeW64(bytes, size, &sanitized);
  if (format == ContainerFormat::kMp4) SanitizeMp4(bytes, size, choice, &sanitized);
  std::stable_sort(sanitized.patches.begin(), sanitized.patches.end(),
                   [](const Patch& a, const Patch& b) { return a.at < b.at; });
  return sanitized;
}

RecordingSpan FindRecordingSpan(const uint8_t* bytes, size_t size, ContainerFormat format,
                                const DecodeBudget& budget) {
  if (format == ContainerFormat::kMatroska) return {MatroskaStart(bytes, size, budget)};
  if (format == ContainerFormat::kMp4) return Mp4Span(bytes, size, budget);
  return {};
}

bool ContainerEndsEarly(const uint8_t* bytes, size_t size, ContainerFormat format, size_t stream,
                        const DecodeBudget& budget) {
  switch (format) {
    case ContainerFormat::kMp3:
    case ContainerFormat::kAdts:
      return EndsInsideFrame(bytes, size, format);
    case ContainerFormat::kAmr:
      return AmrEndsEarly(bytes, size);
    case ContainerFormat::kOgg:
      return OggEndsEarly(bytes, size, stream);
    case ContainerFormat::kW64:
      return W64EndsEarly(bytes, size);
    case ContainerFormat::kMatroska:
      return MatroskaEndsEarly(bytes, size, budget);
    case ContainerFormat::kMp4:
      return Mp4EndsEarly(bytes, size);
    default:
      return false;
  }
}

}  // namespace undertone
