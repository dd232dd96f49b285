#include "decode/matroska_elements.h"

#include <algorithm>
#include <cstring>

#include "decode/container_sanitizer.h"

namespace undertone {
namespace {

using namespace matroska;

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

// What a file says of its times. Ticks are of TimestampScale.
struct Times {
  double scale = 1e6;  // ns per tick
  double duration = 0;
  double cluster = 0;
  double last_block = 0;

  void Read(const MatroskaElement& element, const uint8_t* body) {
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

bool HasChildren(uint32_t id) {
  return id == kSegment || id == kInfo || id == kCluster || id == kBlockGroup;
}

}  // namespace

MatroskaElement ReadMatroskaElement(const uint8_t* bytes, size_t size, size_t at) {
  MatroskaElement element;
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

bool MatroskaEndsEarly(const uint8_t* bytes, size_t size, const DecodeBudget& budget) {
  Times times;
  size_t at = 0;
  while (at < size) {
    budget.Check();
    const MatroskaElement element = ReadMatroskaElement(bytes, size, at);
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

}  // namespace undertone
