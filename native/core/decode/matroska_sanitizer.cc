#include <algorithm>

#include "decode/container_sanitizer.h"
#include "error.h"

namespace undertone {
namespace {

// Identifiers of top-level elements (RFC 9559, 5.1).
constexpr uint32_t kHeader = 0x1A45DFA3;
constexpr uint32_t kSegment = 0x18538067;
constexpr uint32_t kInfo = 0x1549A966;
constexpr uint32_t kTracks = 0x1654AE6B;
constexpr uint32_t kCluster = 0x1F43B675;
constexpr uint32_t kVoid = 0xEC;
// SeekHead, Tags, Chapters, Attachments, Cues
constexpr uint32_t kHidden[] = {0x114D9B74, 0x1254C367, 0x1043A770, 0x1941A469, 0x1C53BB6B};
// Of all Tracks elements together. libavformat holds an empty child of 2 bytes in about 80.
constexpr uint64_t kMaxTracksBytes = uint64_t{4} << 20;

struct Element {
  uint32_t id = 0;
  size_t header = 0;  // bytes of identifier and size; 0: no element
  uint64_t size = 0;
  bool unknown_size = false;
};

bool IsHidden(uint32_t id) {
  return std::find(std::begin(kHidden), std::end(kHidden), id) != std::end(kHidden);
}

bool IsTopLevel(uint32_t id) {
  return IsHidden(id) || id == kHeader || id == kSegment || id == kInfo || id == kTracks || id == kCluster ||
         id == kVoid;
}

// Length of a variable-size integer, from the leading zeros of its first byte (RFC 8794, 4); 0: none.
size_t IntegerLength(uint8_t first) {
  return first == 0 ? 0 : static_cast<size_t>(__builtin_clz(first)) - 23;
}

Element ReadElement(const uint8_t* bytes, size_t size, size_t at) {
  Element element;
  if (at >= size) return element;
  const size_t id_length = IntegerLength(bytes[at]);
  if (id_length == 0 || id_length > 4 || size - at <= id_length) return element;
  const size_t size_length = IntegerLength(bytes[at + id_length]);
  if (size_length == 0 || size - at < id_length + size_length) return element;
  const uint64_t mask = (uint64_t{1} << 7 * size_length) - 1;
  element.id = static_cast<uint32_t>(ReadBigEndian(bytes + at, id_length));
  element.size = ReadBigEndian(bytes + at + id_length, size_length) & mask;
  element.unknown_size = element.size == mask;
  element.header = id_length + size_length;
  return element;
}

// Turns an element with a header of at least 5 bytes into a Void with the same end.
void Hide(const Element& element, size_t at, size_t size, SanitizedContainer* sanitized) {
  const size_t length = std::min<size_t>(8, element.header - 1);
  const size_t rest = size - at - element.header;
  const uint64_t content = element.unknown_size ? rest : std::min<uint64_t>(element.size, rest);
  const uint64_t coded = (content + element.header - 1 - length) | uint64_t{1} << 7 * length;
  AddPatch(at, static_cast<uint8_t>(kVoid), sanitized);
  for (size_t i = 0; i < length; ++i)
    AddPatch(at + 1 + i, static_cast<uint8_t>(coded >> 8 * (length - 1 - i)), sanitized);
}

}  // namespace

void SanitizeMatroska(const uint8_t* bytes, size_t size, SanitizedContainer* sanitized) {
  uint64_t tracks_bytes = 0;
  bool in_clusters = false;
  const auto sanitize = [&](const Element& element, size_t at) {
    in_clusters = in_clusters || element.id == kCluster;
    if (IsHidden(element.id)) Hide(element, at, size, sanitized);
    if (element.id != kTracks) return;
    tracks_bytes += std::min<uint64_t>(element.size, size);
    if (tracks_bytes > kMaxTracksBytes)
      throw Error(ErrorCode::kMalformed, "Expected at most 4 MiB of tracks in the matroska file, got more");
  };
  size_t at = 0;
  for (;;) {
    const Element element = ReadElement(bytes, size, at);
    if (element.header == 0 || !IsTopLevel(element.id)) break;
    sanitize(element, at);
    if (element.id != kSegment && (element.unknown_size || element.size > size - at - element.header)) break;
    at += element.header + (element.id == kSegment ? 0 : static_cast<size_t>(element.size));
  }
  // In damage before the first cluster libavformat searches for the next identifier. After one it builds no
  // lists.
  for (; !in_clusters && at < size; ++at) {
    const Element element = ReadElement(bytes, size, at);
    if (element.header > 4) sanitize(element, at);
  }
}

}  // namespace undertone
