#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace undertone {

constexpr size_t kOggHeaderBytes = 27;  // bytes of a page before its segment table, RFC 3533

// Length of the page at `at`, 0: no page.
size_t OggPageLength(const uint8_t* bytes, size_t size, size_t at);

// Offset of the next capture pattern from `at`, or `size`.
size_t NextOggPage(const uint8_t* bytes, size_t size, size_t at);

// Offsets of the links of a chained Ogg file, 0 first. Each link is a complete Ogg file. At most 1,000: the
// last one then holds the rest.
std::vector<size_t> OggLinks(const uint8_t* bytes, size_t size);

// Whether a link ends inside a page, or one of its streams has no last page.
bool OggEndsEarly(const uint8_t* bytes, size_t size);

}  // namespace undertone
