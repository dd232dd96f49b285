#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "decode/decoder.h"
#include "decode/probe.h"
#include "decode/sink.h"

namespace undertone {

// Opens an Ogg file, whose links are decoded one after the other. The file ends, truncated, at the first link
// after the first that is damaged or has an unsupported codec. Throws what OpenLibav throws for the first
// link.
std::unique_ptr<Decoder> OpenOggChain(const uint8_t* bytes, size_t size, const Sniffed& sniffed, Sink* sink);

}  // namespace undertone
