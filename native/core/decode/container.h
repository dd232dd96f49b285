#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "decode/decode_budget.h"
#include "decode/probe.h"

namespace undertone {

// When a recording begins and ends, in seconds of its timestamps: its audio may begin later and end earlier.
struct RecordingSpan {
  std::optional<double> start;  // absent: with the audio
  double end = 0;               // at least; 0: unknown
};

// The span of Matroska and MP4, unknown for other formats. Throws what the budget throws.
RecordingSpan FindRecordingSpan(const uint8_t* bytes, size_t size, ContainerFormat format, const DecodeBudget& budget);

// Whether the bytes end before the stream of that number does. False for formats that declare a duration or
// sizes, which libavformat reads. Throws what the budget throws.
bool ContainerEndsEarly(const uint8_t* bytes, size_t size, ContainerFormat format, size_t stream,
                        const DecodeBudget& budget);

// Offsets of the links of a chained Ogg file, 0 first. Each link is a complete Ogg file. At most 1,000: the
// last one then holds the rest.
std::vector<size_t> OggLinks(const uint8_t* bytes, size_t size);

// Whether the link from `begin` to `next` goes on in the link from there to `end`, which repeats its headers: the
// granule positions of the same stream grow.
bool OggContinues(const uint8_t* bytes, size_t begin, size_t next, size_t end);

struct AmrFrame {
  int bytes;       // with its header byte
  bool no_speech;  // comfort noise or no data
};

// `header` is the frame's first byte.
AmrFrame ReadAmrFrame(uint8_t header, bool wide);

// The rest is for the files of single containers.

// Whether a link ends inside a page, or its stream of that number, in the order of first pages, has no last page.
bool OggEndsEarly(const uint8_t* bytes, size_t size, size_t stream);

// Whether the file ends inside an element, or, where a writer to a pipe left the size of the segment unknown,
// its blocks end well before its duration. Throws what the budget throws.
bool MatroskaEndsEarly(const uint8_t* bytes, size_t size, const DecodeBudget& budget);

// Timestamp of the first block of any track, in seconds; absent without a block. Throws what the budget throws.
std::optional<double> MatroskaStart(const uint8_t* bytes, size_t size, const DecodeBudget& budget);

// Whether the file ends inside the movie, a fragment or samples.
bool Mp4EndsEarly(const uint8_t* bytes, size_t size);

// From 0 to the end of the longest track; with fragments, whose timestamps may begin anywhere, from the first fragment of
// any track, to the start of the last one. Throws what the budget throws.
RecordingSpan Mp4Span(const uint8_t* bytes, size_t size, const DecodeBudget& budget);

// Whether the bytes begin with blocks of a WebM or Matroska file, or have a cluster of one, but not its header.
bool IsMatroskaSlice(const uint8_t* bytes, size_t size);

// Offset of the chunk of a W64 file that ends beyond it; `size`: none.
size_t FindCutW64Chunk(const uint8_t* bytes, size_t size);

// Reads a big-endian integer of up to 8 bytes.
inline uint64_t ReadBigEndian(const uint8_t* bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) value = value << 8 | bytes[i];
  return value;
}

}  // namespace undertone
