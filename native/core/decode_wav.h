#pragma once

#include <cstddef>
#include <cstdint>

#include "decode_sink.h"

namespace undertone {

// Reads a WAV of PCM, float, A-law or mu-law without libav. Returns false, having written nothing, when the
// samples are coded otherwise. Throws what the sink throws, kMalformed without a format, kEmpty without
// samples.
bool DecodeWav(const uint8_t* bytes, size_t size, Sink* sink, Source* source);

}  // namespace undertone
