#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace undertone {

// RFC 3533, 6. Bytes of a page before its segment table, and offsets of its fields.
inline constexpr size_t kHeaderBytes = 27;
inline constexpr size_t kFlagsOffset = 5;
inline constexpr size_t kGranuleOffset = 6;
inline constexpr size_t kSerialOffset = 14;
inline constexpr size_t kCrcOffset = 22;

inline constexpr uint8_t kContinuedFlag = 1;
inline constexpr uint8_t kFirstPageFlag = 2;
inline constexpr uint8_t kLastPageFlag = 4;

// Length of the page at `at`, 0: no page.
inline size_t PageLength(const uint8_t* bytes, size_t size, size_t at) {
  if (size - at < kHeaderBytes || std::memcmp(bytes + at, "OggS", 4) != 0 || bytes[at + 4] != 0) return 0;
  const size_t segments = bytes[at + 26];
  if (size - at < kHeaderBytes + segments) return 0;
  size_t length = kHeaderBytes + segments;
  for (size_t i = 0; i < segments; ++i) length += bytes[at + kHeaderBytes + i];
  return length;
}

// Offset of the next capture pattern from `at`, or `size`.
inline size_t NextPage(const uint8_t* bytes, size_t size, size_t at) {
  const void* found = at < size ? memmem(bytes + at, size - at, "OggS", 4) : nullptr;
  return found == nullptr ? size : static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes);
}

// Serial number of the stream of a page.
inline uint32_t Serial(const uint8_t* page) {
  uint32_t serial = 0;
  std::memcpy(&serial, page + kSerialOffset, sizeof serial);
  return serial;
}

// Position at the end of the page, in samples of the codec; -1: no packet ends on it.
inline int64_t Granule(const uint8_t* page) {
  int64_t granule = 0;
  std::memcpy(&granule, page + kGranuleOffset, sizeof granule);
  return granule;
}

}  // namespace undertone
