#pragma once

#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
}

#include "decode/probe.h"

namespace undertone {

// The demuxer that reads a kind; libav is never asked to guess.
const char* DemuxerName(Kind kind);

// The one decoder allowed for a codec, nullptr for a codec that is not taken.
const AVCodec* AllowedDecoder(AVCodecID codec);

// Every allowed decoder, as libav's own white list wants them.
const std::string& AllowedDecoderNames();

// The largest value samples of this codec can hold once decoded; see FullScale.
float CodecFullScale(AVCodecID codec);

}  // namespace undertone
