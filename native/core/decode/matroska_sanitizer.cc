#include <algorithm>

#include "decode/container_sanitizer.h"
#include "decode/matroska_elements.h"
#include "error.h"

namespace undertone {
namespace {

using namespace matroska;

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
void Mask(const MatroskaElement& element, size_t at, size_t size, SanitizedContainer* sanitized) {
  const size_t length = std::min<size_t>(8, element.header_bytes - 1);
  const size_t rest = size - at - element.header_bytes;
  const uint64_t content = element.unknown_size ? rest : std::min<uint64_t>(element.size, rest);
  const uint64_t coded = (content + element.header_bytes - 1 - length) | uint64_t{1} << 7 * length;
  AddPatch(at, static_cast<uint8_t>(kVoid), sanitized);
  for (size_t i = 0; i < length; ++i)
    AddPatch(at + 1 + i, static_cast<uint8_t>(coded >> 8 * (length - 1 - i)), sanitized);
}

}  // namespace

void SanitizeMatroska(const uint8_t* bytes, size_t size, SanitizedContainer* sanitized) {
  uint64_t tracks_bytes = 0;
  bool in_clusters = false;
  const auto sanitize = [&](const MatroskaElement& element, size_t at) {
    in_clusters = in_clusters || element.id == kCluster;
    if (IsMasked(element.id)) Mask(element, at, size, sanitized);
    if (element.id != kTracks) return;
    tracks_bytes += std::min<uint64_t>(element.size, size);
    if (tracks_bytes > kMaxTracksBytes)
      throw Error(ErrorCode::kMalformed, "Expected at most 4 MiB of tracks in the matroska file, got more");
  };
  size_t at = 0;
  for (;;) {
    const MatroskaElement element = ReadMatroskaElement(bytes, size, at);
    if (element.header_bytes == 0 || !IsTopLevel(element.id)) break;
    sanitize(element, at);
    if (element.id != kSegment && (element.unknown_size || element.size > size - at - element.header_bytes))
      break;
    at += element.header_bytes + (element.id == kSegment ? 0 : static_cast<size_t>(element.size));
  }
  // In corrupt data before the first cluster libavformat searches for the next identifier. After one it
  // builds no lists.
  for (; !in_clusters && at < size; ++at) {
    const MatroskaElement element = ReadMatroskaElement(bytes, size, at);
    if (element.header_bytes >= kMinMaskedHeaderBytes) sanitize(element, at);
  }
}

}  // namespace undertone
