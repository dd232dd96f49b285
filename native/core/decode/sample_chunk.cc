#include "decode/sample_chunk.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "decode/container.h"

namespace undertone {

const ChunkLayout kWavLayout = {"data", 4, 4, 2, false, false};

namespace {

constexpr ChunkLayout kAiffLayout = {"SSND", 4, 4, 2, true, false};
constexpr ChunkLayout kCafLayout = {"data", 4, 8, 1, true, false};
constexpr ChunkLayout kW64Layout = {"data", 16, 8, 8, false, true};

constexpr uint64_t kUnknownCafSize = UINT64_MAX;

struct Chunk {
  size_t begin;   // of the content
  uint64_t size;  // of the content, as declared
};

size_t HeaderBytes(const ChunkLayout& layout) { return layout.name_bytes + layout.size_bytes; }

Chunk ReadChunk(const uint8_t* bytes, size_t at, const ChunkLayout& layout) {
  const uint8_t* field = bytes + at + layout.name_bytes;
  uint64_t size = ReadBigEndian(field, layout.size_bytes);
  if (!layout.big_endian) size = __builtin_bswap64(size) >> (64 - 8 * layout.size_bytes);
  const size_t header = HeaderBytes(layout);
  if (layout.counts_header) size -= std::min<uint64_t>(size, header);
  return {at + header, size};
}

size_t Align(size_t at, const ChunkLayout& layout) {
  return (at + layout.alignment - 1) / layout.alignment * layout.alignment;
}

bool IsNamed(const uint8_t* chunk, const char* name) { return std::memcmp(chunk, name, 4) == 0; }

bool IsZero(const uint8_t* bytes, const uint8_t* end) {
  return std::all_of(bytes, end, [](uint8_t byte) { return byte == 0; });
}

// Also of a chunk or tag that the end of the file cuts off.
bool HasName(const uint8_t* chunk) {
  for (const char* tag : {"TAG", "ID3", "APET"}) {
    if (std::memcmp(chunk, tag, std::strlen(tag)) == 0) return true;
  }
  return std::all_of(chunk, chunk + 4, [](uint8_t c) { return c == ' ' || c == '_' || std::isalnum(c) != 0; });
}

bool BeginsFile(const uint8_t* bytes) {
  for (const char* magic : {"RIFF", "RIFX", "RF64", "BW64", "FORM", "caff", "riff", "OggS", "fLaC", "\x1A\x45\xDF\xA3"}) {
    if (IsNamed(bytes, magic)) return true;
  }
  return false;
}

}  // namespace

Following FindFollowing(const uint8_t* bytes, size_t size, size_t at, const ChunkLayout& layout) {
  const size_t header = HeaderBytes(layout);
  bool after_chunk = false;
  while (at < size && size - at >= header) {
    if (BeginsFile(bytes + at)) return Following::kOther;
    const Chunk chunk = ReadChunk(bytes, at, layout);
    const bool fits = chunk.size <= size - chunk.begin;
    if (!HasName(bytes + at) || !fits) break;
    if (IsNamed(bytes + at, layout.samples) && chunk.size > 0) return Following::kOther;
    at = Align(chunk.begin + static_cast<size_t>(chunk.size), layout);
    after_chunk = true;
  }
  if (after_chunk || at >= size || size - at < header || HasName(bytes + at)) return Following::kChunks;
  return IsZero(bytes + at, bytes + size) ? Following::kChunks : Following::kSamples;
}

void SanitizeSampleChunk(const uint8_t* bytes, size_t size, ContainerFormat format, SanitizedContainer* sanitized) {
  const ChunkLayout& layout = format == ContainerFormat::kWav    ? kWavLayout
                              : format == ContainerFormat::kAiff ? kAiffLayout
                              : format == ContainerFormat::kCaf  ? kCafLayout
                                                                 : kW64Layout;
  size_t at = format == ContainerFormat::kCaf ? 8 : format == ContainerFormat::kW64 ? 40 : 12;
  while (at < size && size - at >= HeaderBytes(layout)) {
    const Chunk chunk = ReadChunk(bytes, at, layout);
    const size_t rest = size - chunk.begin;
    const bool unknown = format == ContainerFormat::kCaf && chunk.size == kUnknownCafSize;
    if (!IsNamed(bytes + at, layout.samples)) {
      if (chunk.size > rest) return;
      at = Align(chunk.begin + static_cast<size_t>(chunk.size), layout);
      continue;
    }
    if (chunk.size > rest && !unknown) return;
    const size_t end = unknown ? size : Align(chunk.begin + static_cast<size_t>(chunk.size), layout);
    const Following following = FindFollowing(bytes, size, end, layout);
    sanitized->has_unread_data = following == Following::kOther;
    if (!unknown && (following != Following::kSamples || chunk.size == 0)) return;
    const uint64_t patched = rest + (layout.counts_header ? HeaderBytes(layout) : 0);
    for (size_t i = 0; i < layout.size_bytes; ++i) {
      const size_t shift = 8 * (layout.big_endian ? layout.size_bytes - 1 - i : i);
      AddPatch(at + layout.name_bytes + i, static_cast<uint8_t>(patched >> shift), sanitized);
    }
    return;
  }
}

}  // namespace undertone
