#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "decode/decode_budget.h"
#include "decode/probe.h"

namespace undertone {

// A byte that libavformat reads instead of the file's own.
struct Patch {
  size_t at;
  uint8_t byte;
};

// Byte patches that blank metadata before libavformat reads it: tags, pictures, chapters, indexes and unused
// tracks. libavformat searches some lists once per entry, in calls that cannot be interrupted, and holds
// others in forty times their size. docs/security.md has the measurement per part.
struct SanitizedContainer {
  std::vector<Patch> patches;  // sorted by offset
  double declared_packets =
      0;  // in the tables of MP4 and CAF, from which libavformat builds an index at once
};

// Throws kMalformed for metadata over the limits, and what the budget throws.
SanitizedContainer SanitizeContainer(const uint8_t* bytes, size_t size, ContainerFormat format,
                                     const DecodeBudget& budget);

// Replaces a byte. Throws kMalformed where the patches would take too much memory.
void AddPatch(size_t at, uint8_t byte, SanitizedContainer* sanitized);

// The containers with a parser of their own.
void SanitizeOgg(const uint8_t* bytes, size_t size, const DecodeBudget& budget,
                 SanitizedContainer* sanitized);
void SanitizeMatroska(const uint8_t* bytes, size_t size, SanitizedContainer* sanitized);
void SanitizeMp4(const uint8_t* bytes, size_t size, SanitizedContainer* sanitized);

// Offset of the chunk of a W64 file that ends beyond the file; `size`: none.
size_t FindCutW64Chunk(const uint8_t* bytes, size_t size);

// Whether that chunk declares a size: writers to a pipe leave the largest one.
bool W64EndsEarly(const uint8_t* bytes, size_t size);

// Reads a big-endian integer of up to 8 bytes.
inline uint64_t ReadBigEndian(const uint8_t* bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

}  // namespace undertone
