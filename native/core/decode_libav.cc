#include "decode_libav.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/channel_layout.h>
#include <libavutil/samplefmt.h>
}

#include "decode_codecs.h"
#include "decode_demux.h"
#include "decode_samples.h"

namespace undertone {
namespace {

constexpr int64_t kLargestFrame = 1 << 20;  // samples a channel
constexpr double kThinnestStream = 1000;    // bytes a second below which a claimed duration is not believed
constexpr double kLongestPacket = 16.4;     // seconds: FLAC's longest block at the lowest rate
constexpr double kShortfall = 0.02;         // share of the claimed duration that may be missing
constexpr double kShortfallSeconds = 0.2;   // and as much again for delay and padding

struct Free {
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};

template <typename T>
std::unique_ptr<T, Free> Own(T* thing) {
  if (thing == nullptr) throw std::bad_alloc();
  return std::unique_ptr<T, Free>(thing);
}

std::optional<Encoding> EncodingOf(const AVFrame& frame) {
  switch (av_get_packed_sample_fmt(static_cast<AVSampleFormat>(frame.format))) {
    case AV_SAMPLE_FMT_U8:
      return Encoding::kU8;
    case AV_SAMPLE_FMT_S16:
      return Encoding::kS16;
    case AV_SAMPLE_FMT_S32:
      return Encoding::kS32;
    case AV_SAMPLE_FMT_S64:
      return Encoding::kS64;
    case AV_SAMPLE_FMT_FLT:
      return Encoding::kF32;
    case AV_SAMPLE_FMT_DBL:
      return Encoding::kF64;
    default:
      return std::nullopt;
  }
}

struct AmrFrame {
  int bytes;        // with its header byte
  bool speechless;  // comfort noise, or nothing at all
};

// 3GPP TS 26.101 and 26.201; RFC 4867, 5.3. `header` is the frame's first byte.
AmrFrame ReadAmrFrame(uint8_t header, bool wide) {
  static constexpr int kNarrowBytes[16] = {13, 14, 16, 18, 20, 21, 27, 32, 6, 1, 1, 1, 1, 1, 1, 1};
  static constexpr int kWideBytes[16] = {18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 1, 1, 1, 1, 1, 1};
  const int type = header >> 3 & 15;
  return wide ? AmrFrame{kWideBytes[type], type >= 9} : AmrFrame{kNarrowBytes[type], type >= 8};
}

class StreamDecoder {
 public:
  StreamDecoder(const AVStream& stream, Sink* sink)
      : stream_(stream),
        sink_(sink),
        packet_(Own(av_packet_alloc())),
        part_(Own(av_packet_alloc())),
        frame_(Own(av_frame_alloc())) {
    Open(nullptr, 0);
  }

  // Gives one packet, or the end when null, and writes all frames that come out. Damage is skipped.
  void Decode(const AVPacket* packet) {
    if (packet != nullptr) FollowHeaders(*packet);
    if (packet != nullptr && IsAmr()) {
      DecodeAmr(*packet);
    } else {
      Give(packet);
    }
  }

  AVPacket* packet() { return packet_.get(); }

 private:
  void Give(const AVPacket* packet) {
    if (avcodec_send_packet(context_.get(), packet) < 0) return;
    while (avcodec_receive_frame(context_.get(), frame_.get()) >= 0) {
      Write(*frame_);
      av_frame_unref(frame_.get());
    }
  }

  void Open(const uint8_t* headers, size_t size) {
    const AVCodecID id = stream_.codecpar->codec_id;
    const AVCodec* codec = AllowedDecoder(id);
    if (codec == nullptr) {
      throw Error(ErrorCode::kUnsupported,
                  std::string("Expected a codec that is taken, got ") +
                      (id == AV_CODEC_ID_NONE ? "an unknown one" : avcodec_get_name(id)));
    }
    context_ = Own(avcodec_alloc_context3(codec));
    if (avcodec_parameters_to_context(context_.get(), stream_.codecpar) < 0) throw std::bad_alloc();
    if (size > 0) ReplaceHeaders(headers, size);
    context_->pkt_timebase = stream_.time_base;
    context_->thread_count = 1;
    context_->max_samples = kLargestFrame;
    if (avcodec_open2(context_.get(), codec, nullptr) < 0) {
      throw Error(ErrorCode::kMalformed,
                  std::string("Expected readable ") + avcodec_get_name(id) + " headers, got damaged ones");
    }
  }

  void ReplaceHeaders(const uint8_t* headers, size_t size) {
    auto* copy = static_cast<uint8_t*>(av_mallocz(size + AV_INPUT_BUFFER_PADDING_SIZE));
    if (copy == nullptr) throw std::bad_alloc();
    std::copy(headers, headers + size, copy);
    av_freep(&context_->extradata);
    context_->extradata = copy;
    context_->extradata_size = static_cast<int>(size);
  }

  // New headers in mid-stream start a new decoder; encrypted packets end everything.
  void FollowHeaders(const AVPacket& packet) {
    if (av_packet_get_side_data(&packet, AV_PKT_DATA_ENCRYPTION_INFO, nullptr) != nullptr) {
      throw Error(ErrorCode::kUnsupported, "Expected open audio, got an encrypted stream");
    }
    size_t size = 0;
    const uint8_t* headers = av_packet_get_side_data(&packet, AV_PKT_DATA_NEW_EXTRADATA, &size);
    if (headers == nullptr || size == 0) return;
    Decode(nullptr);
    Open(headers, size);
  }

  bool IsAmr() const {
    const AVCodecID id = stream_.codecpar->codec_id;
    return id == AV_CODEC_ID_AMR_NB || id == AV_CODEC_ID_AMR_WB;
  }

  // A sample of a 3GP file may hold several frames, of which libav would hear the first. Pauses are left out:
  // libav makes no samples of comfort noise and empty frames, and time would be lost.
  void DecodeAmr(const AVPacket& packet) {
    const bool wide = stream_.codecpar->codec_id == AV_CODEC_ID_AMR_WB;
    int at = 0;
    while (at < packet.size) {
      const AmrFrame frame = ReadAmrFrame(packet.data[at], wide);
      const int length = std::min(frame.bytes, packet.size - at);
      if (frame.speechless) {
        WriteSilence();
      } else {
        GivePart(packet, at, length);
      }
      at += length;
    }
  }

  void GivePart(const AVPacket& packet, int at, int length) {
    if (av_packet_ref(part_.get(), &packet) < 0) throw std::bad_alloc();
    part_->data += at;
    part_->size = length;
    Give(part_.get());
    av_packet_unref(part_.get());
  }

  // One AMR frame: 20 ms.
  void WriteSilence() {
    const int rate = stream_.codecpar->codec_id == AV_CODEC_ID_AMR_NB ? 8000 : 16000;
    const auto count = static_cast<size_t>(rate / 50);
    sink_->Begin(rate, 1, 1);
    std::fill_n(sink_->scratch()[0], count, 0.0F);
    sink_->Write(sink_->scratch(), count);
  }

  void Write(const AVFrame& frame) {
    const std::optional<Encoding> encoding = EncodingOf(frame);
    const int channels = frame.ch_layout.nb_channels;
    if (!encoding || frame.nb_samples <= 0) return;
    const float codec_scale = CodecFullScale(stream_.codecpar->codec_id);
    sink_->Begin(frame.sample_rate, channels, std::min(codec_scale, FullScale(*encoding)));
    const auto total = static_cast<size_t>(frame.nb_samples);
    for (size_t start = 0; start < total; start += Sink::kBlock) {
      WriteBlock(frame, *encoding, start, std::min(total - start, Sink::kBlock));
    }
  }

  void WriteBlock(const AVFrame& frame, Encoding encoding, size_t start, size_t count) {
    const auto channels = static_cast<size_t>(frame.ch_layout.nb_channels);
    const bool planar = av_sample_fmt_is_planar(static_cast<AVSampleFormat>(frame.format)) != 0;
    const size_t sample = SampleBytes(encoding);
    const size_t stride = planar ? sample : sample * channels;
    planes_.assign(sink_->scratch(), sink_->scratch() + channels);
    for (size_t channel = 0; channel < channels; ++channel) {
      const uint8_t* plane =
          planar ? frame.extended_data[channel] : frame.extended_data[0] + sample * channel;
      if (planar && encoding == Encoding::kF32) {
        planes_[channel] = reinterpret_cast<const float*>(plane) + start;
      } else {
        ToFloat(encoding, plane + start * stride, stride, count, sink_->scratch()[channel]);
      }
    }
    sink_->Write(planes_.data(), count);
  }

  const AVStream& stream_;
  Sink* sink_;
  std::vector<const float*> planes_;  // of one block
  std::unique_ptr<AVPacket, Free> packet_;
  std::unique_ptr<AVPacket, Free> part_;  // one AMR frame of the packet
  std::unique_ptr<AVFrame, Free> frame_;
  std::unique_ptr<AVCodecContext, Free> context_;
};

// Refuses at once what the header says and the limits do not allow, where the file is large enough to be
// honest. Returns the seconds that are believed, 0 for none.
double CheckClaims(const Demuxer& demuxer, size_t size, Sink* sink) {
  const int channels = demuxer.stream().codecpar->ch_layout.nb_channels;
  if (channels > 0) sink->CheckChannels(channels);
  const double seconds = demuxer.ClaimedSeconds();
  if (seconds * kThinnestStream > static_cast<double>(size)) return 0;
  sink->CheckSeconds(seconds - 1);
  sink->Expect(seconds + 1);
  return seconds;
}

}  // namespace

double CountSeconds(const uint8_t* bytes, size_t size, const Sniffed& sniffed, const Watch& watch,
                    double usual, double most) {
  Demuxer demuxer(bytes, size, sniffed, watch);
  const double unit = av_q2d(demuxer.stream().time_base);
  const auto packet = Own(av_packet_alloc());
  double seconds = 0;
  while (seconds <= most && demuxer.Read(packet.get())) {
    seconds +=
        packet->duration > 0 ? std::min(static_cast<double>(packet->duration) * unit, kLongestPacket) : usual;
    av_packet_unref(packet.get());
  }
  return seconds;
}

Reading DecodeLibav(const uint8_t* bytes, size_t size, const Sniffed& sniffed, Sink* sink, Source* source) {
  Demuxer demuxer(bytes, size, sniffed, sink->watch());
  const double believed = CheckClaims(demuxer, size, sink);
  StreamDecoder decoder(demuxer.stream(), sink);
  source->codec = avcodec_get_name(demuxer.stream().codecpar->codec_id);
  const double before = sink->seconds();
  bool counted = false;
  Reading reading;
  while (demuxer.Read(decoder.packet())) {
    ++reading.packets;
    decoder.Decode(decoder.packet());
    av_packet_unref(decoder.packet());
    if (counted || sink->seconds() - before <= believed + kUnforeseen) continue;
    counted = true;
    const double usual = (sink->seconds() - before) / static_cast<double>(reading.packets);
    const double most = sink->watch().max_seconds() + 1 - before;
    sink->CheckSeconds(before + CountSeconds(bytes, size, sniffed, sink->watch(), usual, most) - 1);
  }
  decoder.Decode(nullptr);
  const double claimed = demuxer.ClaimedStreamSeconds();
  const double decoded = sink->seconds() - before;
  reading.truncated = demuxer.broken() || decoded < claimed * (1 - kShortfall) - kShortfallSeconds;
  return reading;
}

}  // namespace undertone
