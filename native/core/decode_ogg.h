#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace undertone {

// Offsets at which the links of a chained Ogg file begin, 0 first: each is a complete Ogg file with headers
// of its own. At most 1,000, the last one then holding all that follows.
std::vector<size_t> OggLinks(const uint8_t* bytes, size_t size);

}  // namespace undertone
