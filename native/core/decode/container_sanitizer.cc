#include "decode/container_sanitizer.h"

#include <algorithm>
#include <cstring>

#include "decode/container.h"
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

// The cut chunk ends with the file. libavformat would look for the next one inside it.
void SanitizeW64(const uint8_t* bytes, size_t size, SanitizedContainer* sanitized) {
  const size_t at = FindCutW64Chunk(bytes, size);
  for (size_t i = 0; at < size && i < 8; ++i)
    AddPatch(at + 16 + i, static_cast<uint8_t>(uint64_t{size - at} >> 8 * i), sanitized);
}

}  // namespace

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

}  // namespace undertone
