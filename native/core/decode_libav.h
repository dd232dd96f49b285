#pragma once

#include <cstddef>
#include <cstdint>

#include "decode_sink.h"
#include "decode_sniff.h"

namespace undertone {

constexpr double kUnforeseen = 60;  // seconds decoded beyond what was believed before the rest is counted

struct Reading {
  size_t packets = 0;      // of the audio stream
  bool truncated = false;  // ended before the header's duration, or in damage
};

// Decodes the container's first audio stream into the sink, as far as it can be decoded; `codec` is set
// before. Throws kUnsupported for a codec not taken, kMalformed for headers that cannot be read, and what the
// sink throws.
Reading DecodeLibav(const uint8_t* bytes, size_t size, const Sniffed& sniffed, Sink* sink, Source* source);

// What the packets of that stream say that they last, none of them decoded, and `usual` for each that says
// nothing: hours of silence in a few kilobytes are found out before they take memory. Throws what the demuxer
// throws. Stops counting soon after `most`.
double CountSeconds(const uint8_t* bytes, size_t size, const Sniffed& sniffed, const Watch& watch,
                    double usual, double most);

}  // namespace undertone
