#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace undertone {

// Names common files that are not audio ("a PNG image"); empty for other bytes.
std::string IdentifyFileType(const uint8_t* bytes, size_t size);

}  // namespace undertone
