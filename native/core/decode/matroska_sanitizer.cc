#include <algorithm>
#include <string>

#include "decode/container_sanitizer.h"
#include "error.h"

namespace undertone {
namespace {

constexpr uint32_t kHeader = 0x1A45DFA3;
constexpr uint32_t kSegment = 0x18538067;
constexpr uint32_t kInfo = 0x1549A966;
constexpr uint32_t kTracks = 0x1654AE6B;
constexpr uint32_t kCluster = 0x1F43B675;
constexpr uint32_t kVoid = 0xEC;
constexpr uint32_t kHidden[] = {0x114D9B74, 0x1254C367, 0x1043A770, 0x1941A469,
                                0x1C53BB6B};  // SeekHead, Tags, Chapters, Attachments, Cues
constexpr size_t kMostTracks = size_t{4}
                               << 20;  // bytes of all Tracks, whose empty elements swell forty times

struct Element {
  uint32_t id = 0;
  size_t head = 0;  // bytes of identifier and size
  uint64_t size = 0;
  bool endless = false;
};

bool IsHidden(uint32_t id) {
  return std::find(std::begin(kHidden), std::end(kHidden), id) != std::end(kHidden);
}

bool IsKnown(uint32_t id) {
  return IsHidden(id) || id == kHeader || id == kSegment || id == kInfo || id == kTracks || id == kCluster ||
         id == kVoid;
}

// RFC 8794, 4: the leading zeros of the first byte tell the length. 0 where there is no such number.
size_t Length(uint8_t first) { return first == 0 ? 0 : static_cast<size_t>(__builtin_clz(first)) - 23; }

// Identifier and size of the element at `at`; no head where there is none.
Element ReadElement(const uint8_t* bytes, size_t size, size_t at) {
  Element element;
  if (at >= size) return element;
  const size_t id_length = Length(bytes[at]);
  if (id_length == 0 || id_length > 4 || size - at <= id_length) return element;
  const size_t size_length = Length(bytes[at + id_length]);
  if (size_length == 0 || size - at < id_length + size_length) return element;
  for (size_t i = 0; i < id_length; ++i) element.id = element.id << 8 | bytes[at + i];
  const uint64_t mask = (uint64_t{1} << 7 * size_length) - 1;
  for (size_t i = 0; i < size_length; ++i) element.size = element.size << 8 | bytes[at + id_length + i];
  element.size &= mask;
  element.endless = element.size == mask;
  element.head = id_length + size_length;
  return element;
}

// An element with a head of five bytes and more becomes a Void that ends where it does.
void Hide(const Element& element, size_t at, size_t size, Veil* veil) {
  const size_t length = std::min<size_t>(8, element.head - 1);
  const size_t rest = size - at - element.head;
  const uint64_t content = element.endless ? rest : std::min<uint64_t>(element.size, rest);
  const uint64_t coded = (content + element.head - 1 - length) | uint64_t{1} << 7 * length;
  ShowByte(at, static_cast<uint8_t>(kVoid), veil);
  for (size_t i = 0; i < length; ++i)
    ShowByte(at + 1 + i, static_cast<uint8_t>(coded >> 8 * (length - 1 - i)), veil);
}

class Walk {
 public:
  Walk(const uint8_t* bytes, size_t size, Veil* veil) : bytes_(bytes), size_(size), veil_(veil) {}

  // Element by element. Where there is none before the first cluster, libav searches for the next identifier,
  // and so does this; once there has been a cluster, libav no longer does anything with lists but read them.
  void Run() {
    size_t at = 0;
    for (;;) {
      const Element element = ReadElement(bytes_, size_, at);
      if (element.head == 0 || !IsKnown(element.id)) break;
      Take(element, at);
      if (element.id != kSegment && (element.endless || element.size > size_ - at - element.head)) break;
      at += element.head + (element.id == kSegment ? 0 : static_cast<size_t>(element.size));
    }
    while (!in_clusters_ && at < size_) {
      const Element element = ReadElement(bytes_, size_, at);
      if (element.head > 4) Take(element, at);
      ++at;
    }
  }

 private:
  void Take(const Element& element, size_t at) {
    in_clusters_ = in_clusters_ || element.id == kCluster;
    if (IsHidden(element.id)) Hide(element, at, size_, veil_);
    if (element.id != kTracks) return;
    tracks_ += std::min<uint64_t>(element.size, size_);
    if (tracks_ > kMostTracks)
      throw Error(ErrorCode::kMalformed, "Expected at most 4 MiB of tracks in the matroska file, got more");
  }

  const uint8_t* bytes_;
  size_t size_;
  Veil* veil_;
  uint64_t tracks_ = 0;
  bool in_clusters_ = false;
};

}  // namespace

void VeilMatroska(const uint8_t* bytes, size_t size, Veil* veil) { Walk(bytes, size, veil).Run(); }

}  // namespace undertone
