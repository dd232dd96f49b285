#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "decode/probe.h"

namespace undertone {

// One byte that libav reads in place of the file's own.
struct Patch {
  size_t at;
  uint8_t byte;
};

// What libav is shown of a file: without the tags, pictures, chapters, indexes and further tracks that nobody
// here asks for. Some of libav's lists take time by the square of their length, in calls that cannot be
// stopped, and others a hundred bytes of memory for two of the file.
struct Veil {
  std::vector<Patch> patches;   // by place
  size_t size;                  // bytes of the file that are shown
  double declared_packets = 0;  // by the tables of MP4 and CAF, from which libav builds an index at once
};

// Adds a patch. Throws kMalformed where there are too many to be held.
void ShowByte(size_t at, uint8_t byte, Veil* veil);

// Throws kMalformed for what no honest file of the kind has.
Veil MakeVeil(const uint8_t* bytes, size_t size, Kind kind);

// The same for each kind that has much to hide.
void VeilFlac(const uint8_t* bytes, size_t size, Veil* veil);
void VeilOgg(const uint8_t* bytes, size_t size, Veil* veil);
void VeilMatroska(const uint8_t* bytes, size_t size, Veil* veil);
void VeilMp4(const uint8_t* bytes, size_t size, Veil* veil);

}  // namespace undertone
