#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "decode/decoder.h"
#include "decode/probe.h"
#include "decode/sink.h"

namespace undertone {

// Opens an Ogg file and decodes its links (chained streams) in turn. A later link that is corrupt or has an
// unsupported codec ends the file as truncated. Throws what OpenLibav throws for the first link.
std::unique_ptr<Decoder> OpenOggChain(const uint8_t* bytes, size_t size, const ProbeResult& probe,
                                      Sink* sink);

}  // namespace undertone
