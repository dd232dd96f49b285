#include "decode/codecs.h"

#include "decode/pcm_convert.h"

namespace undertone {
namespace {

struct Row {
  AVCodecID codec;
  const char* decoder;
};

constexpr Row kAllowed[] = {
    {AV_CODEC_ID_MP2, "mp2float"},
    {AV_CODEC_ID_MP3, "mp3float"},
    {AV_CODEC_ID_AAC, "aac"},
    {AV_CODEC_ID_ALAC, "alac"},
    {AV_CODEC_ID_AMR_NB, "amrnb"},
    {AV_CODEC_ID_AMR_WB, "amrwb"},
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

const char* DemuxerName(Kind kind) {
  switch (kind) {
    case Kind::kWav:
      return "wav";
    case Kind::kMp3:
      return "mp3";
    case Kind::kAdts:
      return "aac";
    case Kind::kFlac:
      return "flac";
    case Kind::kOgg:
      return "ogg";
    case Kind::kMatroska:
      return "matroska";
    case Kind::kMp4:
      return "mov";
    case Kind::kAiff:
      return "aiff";
    case Kind::kCaf:
      return "caf";
    case Kind::kAmr:
      return "amr";
  }
  return "";
}

const AVCodec* AllowedDecoder(AVCodecID codec) {
  for (const Row& row : kAllowed) {
    if (row.codec == codec) return avcodec_find_decoder_by_name(row.decoder);
  }
  return nullptr;
}

const std::string& AllowedDecoderNames() {
  static const std::string names = [] {
    std::string list;
    for (const Row& row : kAllowed) list += (list.empty() ? "" : ",") + std::string(row.decoder);
    return list;
  }();
  return names;
}

float CodecFullScale(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_PCM_U8:
    case AV_CODEC_ID_PCM_S8:
      return FullScale(Encoding::kU8);
    case AV_CODEC_ID_PCM_ALAW:
      return FullScale(Encoding::kALaw);
    case AV_CODEC_ID_PCM_MULAW:
      return FullScale(Encoding::kMuLaw);
    default:
      return 1;
  }
}

}  // namespace undertone
