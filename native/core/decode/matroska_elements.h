#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/decode_budget.h"

namespace undertone {

// Identifiers of elements (RFC 9559, 5.1).
namespace matroska {
constexpr uint32_t kEbmlHeader = 0x1A45DFA3;
constexpr uint32_t kSegment = 0x18538067;
constexpr uint32_t kInfo = 0x1549A966;
constexpr uint32_t kTimestampScale = 0x2AD7B1;
constexpr uint32_t kDuration = 0x4489;
constexpr uint32_t kTracks = 0x1654AE6B;
constexpr uint32_t kCluster = 0x1F43B675;
constexpr uint32_t kTimestamp = 0xE7;
constexpr uint32_t kSimpleBlock = 0xA3;
constexpr uint32_t kBlockGroup = 0xA0;
constexpr uint32_t kBlock = 0xA1;
constexpr uint32_t kVoid = 0xEC;
}  // namespace matroska

struct MatroskaElement {
  uint32_t id = 0;
  size_t header_bytes = 0;  // identifier and size; 0: no element
  uint64_t size = 0;
  bool unknown_size = false;
};

MatroskaElement ReadMatroskaElement(const uint8_t* bytes, size_t size, size_t at);

// Whether the file ends inside an element, or, where a writer to a pipe left the size of the segment unknown,
// its blocks end well before its duration. Throws what the budget throws.
bool MatroskaEndsEarly(const uint8_t* bytes, size_t size, const DecodeBudget& budget);

}  // namespace undertone
