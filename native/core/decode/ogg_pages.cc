#include "decode/ogg_pages.h"

#include <algorithm>
#include <cstring>

namespace undertone {
namespace {

constexpr size_t kMaxLinks = 1000;
constexpr size_t kMaxOpenStreams = 64;
constexpr uint8_t kFirstPageFlag = 2;
constexpr uint8_t kLastPageFlag = 4;

}  // namespace

size_t OggPageLength(const uint8_t* bytes, size_t size, size_t at) {
  if (size - at < kOggHeaderBytes || std::memcmp(bytes + at, "OggS", 4) != 0 || bytes[at + 4] != 0) return 0;
  const size_t segments = bytes[at + 26];
  if (size - at < kOggHeaderBytes + segments) return 0;
  size_t length = kOggHeaderBytes + segments;
  for (size_t i = 0; i < segments; ++i) length += bytes[at + kOggHeaderBytes + i];
  return length;
}

size_t NextOggPage(const uint8_t* bytes, size_t size, size_t at) {
  const void* found = at < size ? memmem(bytes + at, size - at, "OggS", 4) : nullptr;
  return found == nullptr ? size : static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes);
}

std::vector<size_t> OggLinks(const uint8_t* bytes, size_t size) {
  std::vector<size_t> links{0};
  bool in_headers = true;  // a link starts with the first page of each of its streams
  for (size_t at = 0; at < size && links.size() < kMaxLinks;) {
    const size_t length = OggPageLength(bytes, size, at);
    if (length == 0) {
      at = NextOggPage(bytes, size, at + 1);
      continue;
    }
    const bool begins = (bytes[at + 5] & kFirstPageFlag) != 0;
    if (begins && !in_headers) links.push_back(at);
    in_headers = begins;
    at += length;
  }
  return links;
}

bool OggEndsEarly(const uint8_t* bytes, size_t size) {
  std::vector<uint32_t> open;  // serial numbers of streams before their last page
  for (size_t at = 0; at < size;) {
    const size_t length = OggPageLength(bytes, size, at);
    if (length > size - at) return true;
    if (length == 0) {
      at = NextOggPage(bytes, size, at + 1);
      continue;
    }
    uint32_t serial = 0;
    std::memcpy(&serial, bytes + at + 14, sizeof serial);
    const uint8_t flags = bytes[at + 5];
    if ((flags & (kFirstPageFlag | kLastPageFlag)) != 0) {
      open.erase(std::remove(open.begin(), open.end(), serial), open.end());
    }
    if ((flags & kLastPageFlag) == 0 && (flags & kFirstPageFlag) != 0 && open.size() < kMaxOpenStreams) {
      open.push_back(serial);
    }
    at += length;
  }
  return !open.empty();
}

}  // namespace undertone
