#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/container_sanitizer.h"

namespace undertone {

// Headers of the chunks of a format: a name, then the size.
struct ChunkLayout {
  const char* samples;  // name of the chunk with the samples
  size_t name_bytes;
  size_t size_bytes;
  size_t alignment;
  bool big_endian;
  bool counts_header;  // in the size
};

// What follows the declared end of the samples. Recorders that were stopped, or that write to a pipe, leave the size of
// their first buffer: then the samples extend to the end of the file.
enum class Following { kChunks, kSamples, kOther };

// `at`: the declared end. Padding with zeros counts as chunks, another file as other data.
Following FindFollowing(const uint8_t* bytes, size_t size, size_t at, const ChunkLayout& layout);

extern const ChunkLayout kWavLayout;

// Patches the size of the samples of WAV, AIFF, CAF and W64 where it is unknown or too small, and notes other data
// after them.
void SanitizeSampleChunk(const uint8_t* bytes, size_t size, ContainerFormat format, SanitizedContainer* sanitized);

}  // namespace undertone
