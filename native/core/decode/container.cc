#include "decode/container.h"

namespace undertone {
namespace {

constexpr size_t kW64ChunkBytes = 24;  // a GUID of 16 bytes, and the size with this header

uint64_t W64ChunkSize(const uint8_t* chunk) { return __builtin_bswap64(ReadBigEndian(chunk + 16, 8)); }

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

size_t FindCutW64Chunk(const uint8_t* bytes, size_t size) {
  for (size_t at = 40; at < size && size - at >= kW64ChunkBytes;) {
    const uint64_t chunk = W64ChunkSize(bytes + at);
    if (chunk > size - at) return at;
    if (chunk < kW64ChunkBytes) break;
    at += (static_cast<size_t>(chunk) + 7) & ~size_t{7};
  }
  return size;
}

// 3GPP TS 26.101 and 26.201; RFC 4867, 5.3.
AmrFrame ReadAmrFrame(uint8_t header, bool wide) {
  static constexpr int kNarrowBytes[16] = {13, 14, 16, 18, 20, 21, 27, 32, 6, 1, 1, 1, 1, 1, 1, 1};
  static constexpr int kWideBytes[16] = {18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 1, 1, 1, 1, 1, 1};
  const int type = header >> 3 & 15;
  return wide ? AmrFrame{kWideBytes[type], type >= 9} : AmrFrame{kNarrowBytes[type], type >= 8};
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
