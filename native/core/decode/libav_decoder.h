#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "decode/decoder.h"
#include "decode/probe.h"
#include "decode/sink.h"

namespace undertone {

// Audio decoded beyond the trusted duration before SumPacketDurations runs over the file.
constexpr double kMaxUndeclaredSeconds = 60;

// Opens the container's first audio stream. Throws kUnsupported for other codecs, kMalformed for unreadable
// headers, and what the sink throws.
std::unique_ptr<Decoder> OpenLibav(const uint8_t* bytes, size_t size, const ProbeResult& probe, Sink* sink);

// Sums the packet durations of that stream without decoding; packets without one count as `default_seconds`.
// Finds hours of silence in a few kilobytes before they take memory. Stops after `max_seconds`. Throws what
// the demuxer throws.
double SumPacketDurations(const uint8_t* bytes, size_t size, const ProbeResult& probe,
                          const DecodeBudget& budget, double default_seconds, double max_seconds);

}  // namespace undertone
