#include "decode/codecs.h"

#include <iterator>

#include "decode/pcm_convert.h"

namespace undertone {
namespace {

struct AllowedCodec {
  AVCodecID codec;
  const char* decoder;
};

constexpr AllowedCodec kAllowed[] = {
    {AV_CODEC_ID_MP2, "mp2float"},
    {AV_CODEC_ID_MP3, "mp3float"},
    {AV_CODEC_ID_AAC, "aac"},
    {AV_CODEC_ID_ALAC, "alac"},
    {AV_CODEC_ID_AMR_NB, "amrnb"},
    {AV_CODEC_ID_AMR_WB, "amrwb"},
    {AV_CODEC_ID_GSM_MS, "gsm_ms"},
    {AV_CODEC_ID_OPUS, "opus"},
    {AV_CODEC_ID_VORBIS, "vorbis"},
    {AV_CODEC_ID_FLAC, "flac"},
    {AV_CODEC_ID_ADPCM_MS, "adpcm_ms"},
    {AV_CODEC_ID_ADPCM_IMA_WAV, "adpcm_ima_wav"},
    {AV_CODEC_ID_ADPCM_IMA_QT, "adpcm_ima_qt"},
    {AV_CODEC_ID_ADPCM_YAMAHA, "adpcm_yamaha"},
    {AV_CODEC_ID_ADPCM_G722, "g722"},
    {AV_CODEC_ID_ADPCM_G726, "g726"},
    {AV_CODEC_ID_PCM_U8, "pcm_u8"},
    {AV_CODEC_ID_PCM_S8, "pcm_s8"},
    {AV_CODEC_ID_PCM_S16LE, "pcm_s16le"},
    {AV_CODEC_ID_PCM_S16BE, "pcm_s16be"},
    {AV_CODEC_ID_PCM_S24LE, "pcm_s24le"},
    {AV_CODEC_ID_PCM_S24BE, "pcm_s24be"},
    {AV_CODEC_ID_PCM_S32LE, "pcm_s32le"},
    {AV_CODEC_ID_PCM_S32BE, "pcm_s32be"},
    {AV_CODEC_ID_PCM_F32LE, "pcm_f32le"},
    {AV_CODEC_ID_PCM_F32BE, "pcm_f32be"},
    {AV_CODEC_ID_PCM_F64LE, "pcm_f64le"},
    {AV_CODEC_ID_PCM_F64BE, "pcm_f64be"},
    {AV_CODEC_ID_PCM_ALAW, "pcm_alaw"},
    {AV_CODEC_ID_PCM_MULAW, "pcm_mulaw"},
};

}  // namespace

const char* DemuxerName(ContainerFormat format) {
  static constexpr const char* kNames[] = {"wav", "mp3",  "aac", "flac", "ogg", "matroska",
                                           "mov", "aiff", "caf", "amr",  "au",  "w64"};
  static_assert(std::size(kNames) == static_cast<size_t>(ContainerFormat::kW64) + 1);
  return kNames[static_cast<size_t>(format)];
}

const AVCodec* AllowedDecoder(AVCodecID codec) {
  for (const AllowedCodec& allowed : kAllowed) {
    if (allowed.codec == codec) return avcodec_find_decoder_by_name(allowed.decoder);
  }
  return nullptr;
}

const std::string& AllowedDecoderNames() {
  static const std::string names = [] {
    std::string list;
    for (const AllowedCodec& allowed : kAllowed)
      list += (list.empty() ? "" : ",") + std::string(allowed.decoder);
    return list;
  }();
  return names;
}

float CodecFullScale(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_PCM_U8:
    case AV_CODEC_ID_PCM_S8:
      return FullScale(SampleFormat::kU8);
    case AV_CODEC_ID_PCM_ALAW:
      return FullScale(SampleFormat::kALaw);
    case AV_CODEC_ID_PCM_MULAW:
      return FullScale(SampleFormat::kMuLaw);
    default:
      return 1;
  }
}

}  // namespace undertone
