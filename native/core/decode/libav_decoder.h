#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "decode/decoder.h"
#include "decode/probe.h"
#include "decode/sink.h"

namespace undertone {

// Seconds decoded beyond the trusted duration before the packets of the rest are counted.
constexpr double kMaxUndeclaredSeconds = 60;

// Opens the container's first audio stream. Throws kUnsupported for a codec that is not supported, kMalformed
// for unreadable headers, and what the sink throws.
std::unique_ptr<Decoder> OpenLibav(const uint8_t* bytes, size_t size, const Sniffed& sniffed, Sink* sink);

// Sums the packet durations of that stream without decoding; packets without one count as `usual` seconds.
// Finds hours of silence in a few kilobytes before they take memory. Stops soon after `most` seconds. Throws
// what the demuxer throws.
double CountSeconds(const uint8_t* bytes, size_t size, const Sniffed& sniffed, const DecodeBudget& budget,
                    double usual, double most);

}  // namespace undertone
