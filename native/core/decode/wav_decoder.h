#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "decode/decoder.h"
#include "decode/sink.h"

namespace undertone {

// Opens a WAV of PCM, float, A-law or mu-law without libav; null: another codec. libav needs 4 to 40 times as
// long (1.5 times for 24 bits), because its demuxer probes 16-bit samples for S/PDIF.
// Throws what the sink throws, kMalformed without a format, kEmpty without samples.
std::unique_ptr<Decoder> OpenWav(const uint8_t* bytes, size_t size, Sink* sink);

}  // namespace undertone
