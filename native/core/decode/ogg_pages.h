#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace undertone {

constexpr size_t kOggHead = 27;  // bytes of a page before its table of segments, RFC 3533

// Length of the page at `at`, 0 when there is none.
size_t OggPageLength(const uint8_t* bytes, size_t size, size_t at);

// Where the next page may begin, or the end.
size_t NextOggPage(const uint8_t* bytes, size_t size, size_t at);

// Offsets at which the links of a chained Ogg file begin, 0 first: each is a complete Ogg file with headers
// of its own. At most 1,000, the last one then holding all that follows.
std::vector<size_t> OggLinks(const uint8_t* bytes, size_t size);

}  // namespace undertone
