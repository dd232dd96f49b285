#include "decode/ogg_pages.h"

#include <cstring>

namespace undertone {
namespace {

constexpr size_t kMaxLinks = 1000;
constexpr uint8_t kFirstPageFlag = 2;

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

}  // namespace undertone
