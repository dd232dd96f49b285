#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace undertone {

// Names what bytes are that no decoder here takes ("a PNG image"); empty when their start says nothing.
std::string NameForeign(const uint8_t* bytes, size_t size);

}  // namespace undertone
