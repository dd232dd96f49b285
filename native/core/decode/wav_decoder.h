#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "decode/decoder.h"
#include "decode/sink.h"

namespace undertone {

// Opens a WAV of PCM, float, A-law or mu-law, which is read without libav. Returns null when the samples are
// coded otherwise. Throws what the sink throws, kMalformed without a format, kEmpty without samples.
std::unique_ptr<Decoder> OpenWav(const uint8_t* bytes, size_t size, Sink* sink);

}  // namespace undertone
