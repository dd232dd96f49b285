#include "decode/decoder.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/samplefmt.h>
}

#include "decode/container.h"

namespace undertone {
namespace {

constexpr int64_t kMaxFrameSamples = 1 << 20;  // samples a channel

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

// nullptr: a codec that is not allowed.
const AVCodec* AllowedDecoder(AVCodecID codec) {
  for (const AllowedCodec& allowed : kAllowed) {
    if (allowed.codec == codec) return avcodec_find_decoder_by_name(allowed.decoder);
  }
  return nullptr;
}

// The largest decoded value of a codec; see FullScale.
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

std::optional<SampleFormat> ToSampleFormat(const AVFrame& frame) {
  switch (av_get_packed_sample_fmt(static_cast<AVSampleFormat>(frame.format))) {
    case AV_SAMPLE_FMT_U8:
      return SampleFormat::kU8;
    case AV_SAMPLE_FMT_S16:
      return SampleFormat::kS16;
    case AV_SAMPLE_FMT_S32:
      return SampleFormat::kS32;
    case AV_SAMPLE_FMT_S64:
      return SampleFormat::kS64;
    case AV_SAMPLE_FMT_FLT:
      return SampleFormat::kF32;
    case AV_SAMPLE_FMT_DBL:
      return SampleFormat::kF64;
    default:
      return std::nullopt;
  }
}

void RejectEncrypted(const AVPacket& packet) {
  if (av_packet_get_side_data(&packet, AV_PKT_DATA_ENCRYPTION_INFO, nullptr) != nullptr) {
    throw Error(ErrorCode::kUnsupported, "Expected unencrypted audio, got an encrypted stream");
  }
}

// Variants that releases of libav do not decode, from the header of the codec; "" for others.
std::string VariantName(const AVCodecParameters& parameters) {
  const uint8_t* header = parameters.extradata;
  const int size = parameters.extradata_size;
  if (parameters.codec_id == AV_CODEC_ID_AAC && size >= 2) {
    // ISO/IEC 14496-3, 1.6.2.1: 31 is followed by 6 more bits.
    const int type = header[0] >> 3 == 31 ? 32 + ((header[0] & 7) << 3 | header[1] >> 5) : header[0] >> 3;
    if (type == 42) return "xHE-AAC (USAC)";
  }
  if (parameters.codec_id == AV_CODEC_ID_OPUS && size >= 19) {
    const int family = header[18];
    if (family > 2 && family != 255) return "Opus with channel mapping family " + std::to_string(family);
  }
  if (parameters.codec_id == AV_CODEC_ID_FLAC && size >= 14) {
    const int bits = ((header[12] & 1) << 4 | header[13] >> 4) + 1;
    if (bits > 24) return std::to_string(bits) + "-bit FLAC";
  }
  return "";
}

bool HasNewExtradata(const AVPacket& packet) {
  size_t size = 0;
  return av_packet_get_side_data(&packet, AV_PKT_DATA_NEW_EXTRADATA, &size) != nullptr && size > 0;
}

}  // namespace

const std::string& AllowedDecoderNames() {
  static const std::string names = [] {
    std::string list;
    for (const AllowedCodec& allowed : kAllowed)
      list += (list.empty() ? "" : ",") + std::string(allowed.decoder);
    return list;
  }();
  return names;
}

Decoder::Decoder(const AVStream& stream, Sink* sink)
    : stream_(stream), sink_(sink), subpacket_(Own(av_packet_alloc())), frame_(Own(av_frame_alloc())) {
  Open(nullptr, 0);
}

void Decoder::SendPacket(const AVPacket* packet) {
  packet_ = packet;
  at_ = 0;
  if (packet != nullptr) RejectEncrypted(*packet);
  reopen_ = packet != nullptr && HasNewExtradata(*packet);
  if (reopen_) {
    SendToCodec(nullptr);
  } else if (packet == nullptr || !IsAmr()) {
    SendToCodec(packet);
  }
}

bool Decoder::WriteFrame() {
  for (;;) {
    if (WriteSilence()) return true;
    if (ReceiveFrame()) {
      if (WriteSilence()) return true;
      Write(*frame_);
      av_frame_unref(frame_.get());
      return true;
    }
    if (reopen_) {
      Reopen();
    } else if (packet_ == nullptr || !IsAmr() || at_ >= packet_->size) {
      return false;
    } else if (SendAmrFrame()) {
      return true;
    }
  }
}

void Decoder::SendToCodec(const AVPacket* packet) {
  receiving_ = avcodec_send_packet(context_.get(), packet) >= 0;
  if (packet == nullptr) return;
  last_packet_failed_ = !receiving_;
  if (receiving_) return;
  refused_packets_ = true;
  if (!timeline_.started() && packet->pts != AV_NOPTS_VALUE) timeline_.StartAt(ToSeconds(packet->pts));
}

// Returns whether a frame is to be written.
bool Decoder::ReceiveFrame() {
  if (frame_->nb_samples > 0) return true;
  if (receiving_) receiving_ = avcodec_receive_frame(context_.get(), frame_.get()) >= 0;
  if (receiving_) FindSilence();
  return receiving_;
}

// Writes a block of the silence. Returns false when none is left.
bool Decoder::WriteSilence() {
  if (silence_ == 0) return false;
  const size_t count = std::min(silence_, Sink::kBlock);
  sink_->WriteSilence(count);
  silence_ -= count;
  return true;
}

void Decoder::EndInSilence(double seconds) { BeginSilence(seconds, true); }

// Sets the silence that stands for missing audio before the received frame.
void Decoder::FindSilence() {
  const AVFrame& frame = *frame_;
  if (!SetFormat(frame)) return;
  const double duration = static_cast<double>(frame.nb_samples) / frame.sample_rate;
  const bool is_damaged = std::exchange(refused_packets_, false);
  // The first frame may be the delay of the encoder, to which FFmpeg gives the time until late audio begins.
  const bool is_lost = frames_++ > 1 || is_damaged;
  if (frame.pts == AV_NOPTS_VALUE) return timeline_.Skip(duration);
  const double seconds = timeline_.MissingBefore(ToSeconds(frame.pts), duration);
  if (seconds == 0) return;
  skipped_damage_ = skipped_damage_ || is_damaged;
  BeginSilence(seconds, is_lost);
}

void Decoder::BeginSilence(double seconds, bool is_lost) {
  sink_->BeginSilence(seconds, is_lost);
  silence_ = static_cast<size_t>(std::llround(seconds * context_->sample_rate));
}

double Decoder::ToSeconds(int64_t timestamp) const {
  return static_cast<double>(timestamp) * av_q2d(stream_.time_base);
}

void Decoder::Open(const uint8_t* extradata, size_t size) {
  const AVCodecID id = stream_.codecpar->codec_id;
  const AVCodec* codec = AllowedDecoder(id);
  if (codec == nullptr) {
    throw Error(ErrorCode::kUnsupported,
                std::string("Expected a supported codec, got ") +
                    (id == AV_CODEC_ID_NONE ? "an unknown one" : avcodec_get_name(id)));
  }
  context_ = Own(avcodec_alloc_context3(codec));
  if (avcodec_parameters_to_context(context_.get(), stream_.codecpar) < 0) throw std::bad_alloc();
  if (size > 0) SetExtradata(extradata, size);
  context_->pkt_timebase = stream_.time_base;
  context_->thread_count = 1;
  context_->max_samples = kMaxFrameSamples;
  if (avcodec_open2(context_.get(), codec, nullptr) < 0) {
    RejectVariant();
    throw Error(ErrorCode::kMalformed,
                std::string("Expected readable ") + avcodec_get_name(id) + " headers, got corrupt ones");
  }
}

void Decoder::RejectVariant() const {
  const std::string name = VariantName(*stream_.codecpar);
  if (name.empty()) return;
  throw Error(ErrorCode::kUnsupported,
              "Expected a supported codec, got " + name + ": convert it to WAV, MP3, AAC, FLAC or Opus");
}

void Decoder::SetExtradata(const uint8_t* extradata, size_t size) {
  auto* copy = static_cast<uint8_t*>(av_mallocz(size + AV_INPUT_BUFFER_PADDING_SIZE));
  if (copy == nullptr) throw std::bad_alloc();
  std::copy(extradata, extradata + size, copy);
  av_freep(&context_->extradata);
  context_->extradata = copy;
  context_->extradata_size = static_cast<int>(size);
}

// Opens a new decoder with the packet's extradata. The old one must be drained.
void Decoder::Reopen() {
  size_t size = 0;
  const uint8_t* extradata = av_packet_get_side_data(packet_, AV_PKT_DATA_NEW_EXTRADATA, &size);
  Open(extradata, size);
  reopen_ = false;
  if (!IsAmr()) SendToCodec(packet_);
}

bool Decoder::IsAmr() const {
  const AVCodecID id = stream_.codecpar->codec_id;
  return id == AV_CODEC_ID_AMR_NB || id == AV_CODEC_ID_AMR_WB;
}

// A sample of a 3GP file may hold several frames; libav decodes only the first, so each is sent alone. libav
// returns no samples for comfort noise and empty frames; these are written as silence to keep the time.
// Returns whether it wrote.
bool Decoder::SendAmrFrame() {
  const bool wide = stream_.codecpar->codec_id == AV_CODEC_ID_AMR_WB;
  const AmrFrame frame = ReadAmrFrame(packet_->data[at_], wide);
  const int length = std::min(frame.bytes, packet_->size - at_);
  const int at = std::exchange(at_, at_ + length);
  if (frame.no_speech) {
    WriteNoSpeech();
  } else {
    SendSubpacket(at, length);
  }
  return frame.no_speech;
}

void Decoder::SendSubpacket(int at, int length) {
  if (av_packet_ref(subpacket_.get(), packet_) < 0) throw std::bad_alloc();
  subpacket_->data += at;
  subpacket_->size = length;
  if (at > 0) subpacket_->pts = AV_NOPTS_VALUE;  // of the first frame
  SendToCodec(subpacket_.get());
  av_packet_unref(subpacket_.get());
}

// One AMR frame: 20 ms.
void Decoder::WriteNoSpeech() {
  const int rate = stream_.codecpar->codec_id == AV_CODEC_ID_AMR_NB ? 8000 : 16000;
  sink_->SetFormat(rate, 1, 1);
  sink_->WriteSilence(static_cast<size_t>(rate / 50));
  timeline_.Skip(0.02);
}

// Returns false for a frame without samples.
bool Decoder::SetFormat(const AVFrame& frame) {
  const std::optional<SampleFormat> format = ToSampleFormat(frame);
  if (!format || frame.nb_samples <= 0) return false;
  const float codec_scale = CodecFullScale(stream_.codecpar->codec_id);
  sink_->SetFormat(frame.sample_rate, frame.ch_layout.nb_channels, std::min(codec_scale, FullScale(*format)));
  return true;
}

void Decoder::Write(const AVFrame& frame) {
  if (!SetFormat(frame)) return;
  const SampleFormat format = *ToSampleFormat(frame);
  const auto total = static_cast<size_t>(frame.nb_samples);
  for (size_t start = 0; start < total; start += Sink::kBlock) {
    WriteBlock(frame, format, start, std::min(total - start, Sink::kBlock));
  }
}

void Decoder::WriteBlock(const AVFrame& frame, SampleFormat format, size_t start, size_t count) {
  const auto channels = static_cast<size_t>(frame.ch_layout.nb_channels);
  const bool planar = av_sample_fmt_is_planar(static_cast<AVSampleFormat>(frame.format)) != 0;
  const size_t sample = BytesPerSample(format);
  const size_t stride = planar ? sample : sample * channels;
  planes_.assign(sink_->scratch(), sink_->scratch() + channels);
  for (size_t channel = 0; channel < channels; ++channel) {
    const uint8_t* plane = planar ? frame.extended_data[channel] : frame.extended_data[0] + sample * channel;
    if (planar && format == SampleFormat::kF32) {
      planes_[channel] = reinterpret_cast<const float*>(plane) + start;
    } else {
      ConvertToFloat(format, plane + start * stride, stride, count, sink_->scratch()[channel]);
    }
  }
  sink_->Write(planes_.data(), count);
}

}  // namespace undertone
