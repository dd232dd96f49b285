#pragma once

#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
}

#include "decode/probe.h"

namespace undertone {

// The libav demuxer of a format; libav never probes.
const char* DemuxerName(ContainerFormat format);

// The decoder of a supported codec, nullptr for other codecs.
const AVCodec* AllowedDecoder(AVCodecID codec);

// All allowed decoders, separated by commas: the syntax of AVFormatContext.codec_whitelist.
const std::string& AllowedDecoderNames();

// The largest decoded value of this codec; see FullScale.
float CodecFullScale(AVCodecID codec);

}  // namespace undertone
