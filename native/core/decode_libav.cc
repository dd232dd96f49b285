#include "decode_libav.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
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

// Decodes the packets of one stream, frame by frame. Damage is skipped.
class StreamDecoder {
 public:
  StreamDecoder(const AVStream& stream, Sink* sink)
      : stream_(stream), sink_(sink), subpacket_(Own(av_packet_alloc())), frame_(Own(av_frame_alloc())) {
    Open(nullptr, 0);
  }

  // Starts on a packet, or on the end of the stream when null. The packet must stay as it is until WriteFrame
  // has returned false. Throws kUnsupported for an encrypted packet.
  void Start(const AVPacket* packet) {
    packet_ = packet;
    at_ = 0;
    reopen_ = packet != nullptr && HasNewHeaders(*packet);
    if (reopen_) {
      SendPacket(nullptr);
    } else if (packet == nullptr || !IsAmr()) {
      SendPacket(packet);
    }
  }

  // Writes the next frame that the packet decodes to. Returns false when there is none left.
  bool WriteFrame() {
    for (;;) {
      if (ReceiveFrame()) return true;
      if (reopen_) {
        Reopen();
      } else if (packet_ == nullptr || !IsAmr() || at_ >= packet_->size) {
        return false;
      } else if (SendAmrFrame()) {
        return true;
      }
    }
  }

 private:
  void SendPacket(const AVPacket* packet) {
    receiving_ = avcodec_send_packet(context_.get(), packet) >= 0;
  }

  bool ReceiveFrame() {
    if (receiving_) receiving_ = avcodec_receive_frame(context_.get(), frame_.get()) >= 0;
    if (!receiving_) return false;
    Write(*frame_);
    av_frame_unref(frame_.get());
    return true;
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

  bool HasNewHeaders(const AVPacket& packet) const {
    if (av_packet_get_side_data(&packet, AV_PKT_DATA_ENCRYPTION_INFO, nullptr) != nullptr) {
      throw Error(ErrorCode::kUnsupported, "Expected open audio, got an encrypted stream");
    }
    size_t size = 0;
    return av_packet_get_side_data(&packet, AV_PKT_DATA_NEW_EXTRADATA, &size) != nullptr && size > 0;
  }

  // Once the old decoder is drained, the packet's headers open a new one.
  void Reopen() {
    size_t size = 0;
    const uint8_t* headers = av_packet_get_side_data(packet_, AV_PKT_DATA_NEW_EXTRADATA, &size);
    Open(headers, size);
    reopen_ = false;
    if (!IsAmr()) SendPacket(packet_);
  }

  bool IsAmr() const {
    const AVCodecID id = stream_.codecpar->codec_id;
    return id == AV_CODEC_ID_AMR_NB || id == AV_CODEC_ID_AMR_WB;
  }

  // A sample of a 3GP file may hold several frames, of which libav decodes only the first. libav returns no
  // samples for comfort noise and empty frames: they become silence here, so that no time is lost. Returns
  // whether it wrote such a frame.
  bool SendAmrFrame() {
    const bool wide = stream_.codecpar->codec_id == AV_CODEC_ID_AMR_WB;
    const AmrFrame frame = ReadAmrFrame(packet_->data[at_], wide);
    const int length = std::min(frame.bytes, packet_->size - at_);
    const int at = std::exchange(at_, at_ + length);
    if (frame.speechless) {
      WriteSilence();
    } else {
      SendSubpacket(at, length);
    }
    return frame.speechless;
  }

  void SendSubpacket(int at, int length) {
    if (av_packet_ref(subpacket_.get(), packet_) < 0) throw std::bad_alloc();
    subpacket_->data += at;
    subpacket_->size = length;
    SendPacket(subpacket_.get());
    av_packet_unref(subpacket_.get());
  }

  // One AMR frame: 20 ms.
  void WriteSilence() {
    const int rate = stream_.codecpar->codec_id == AV_CODEC_ID_AMR_NB ? 8000 : 16000;
    const auto count = static_cast<size_t>(rate / 50);
    sink_->SetFormat(rate, 1, 1);
    std::fill_n(sink_->scratch()[0], count, 0.0F);
    sink_->Write(sink_->scratch(), count);
  }

  void Write(const AVFrame& frame) {
    const std::optional<Encoding> encoding = EncodingOf(frame);
    const int channels = frame.ch_layout.nb_channels;
    if (!encoding || frame.nb_samples <= 0) return;
    const float codec_scale = CodecFullScale(stream_.codecpar->codec_id);
    sink_->SetFormat(frame.sample_rate, channels, std::min(codec_scale, FullScale(*encoding)));
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
  const AVPacket* packet_ = nullptr;
  int at_ = 0;              // bytes of an AMR packet that are sent
  bool receiving_ = false;  // the decoder may have frames
  bool reopen_ = false;     // the packet waits for a decoder with its own headers
  std::vector<const float*> planes_;  // of one block
  std::unique_ptr<AVPacket, Free> subpacket_;
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
  sink->ReserveDuration(seconds);
  return seconds;
}

// One frame at each step.
class LibavDecoder : public Decoder {
 public:
  LibavDecoder(const uint8_t* bytes, size_t size, const Sniffed& sniffed, Sink* sink)
      : bytes_(bytes),
        size_(size),
        sniffed_(sniffed),
        sink_(sink),
        before_(sink->seconds()),
        demuxer_(bytes, size, sniffed, *sink->budget()),
        trusted_(CheckClaims(demuxer_, size, sink)),
        decoder_(demuxer_.stream(), sink),
        codec_(avcodec_get_name(demuxer_.stream().codecpar->codec_id)),
        packet_(Own(av_packet_alloc())) {}

  bool Step() override {
    while (!decoder_.WriteFrame()) {
      if (drained_) return false;
      av_packet_unref(packet_.get());
      if (!counted_ && decoded() > trusted_ + kMaxUndeclaredSeconds) CountRest();
      if (demuxer_.Read(packet_.get())) {
        ++packets_;
        decoder_.Start(packet_.get());
      } else {
        drained_ = true;
        decoder_.Start(nullptr);
      }
    }
    return true;
  }

  DecodeResult result() const override {
    const double declared = demuxer_.ClaimedStreamSeconds();
    const bool short_of_declared = decoded() < declared * (1 - kShortfall) - kShortfallSeconds;
    return {packets_, demuxer_.broken() || short_of_declared};
  }

  std::string codec() const override { return codec_; }

 private:
  double decoded() const { return sink_->seconds() - before_; }

  void CountRest() {
    counted_ = true;
    const double usual = decoded() / static_cast<double>(packets_);
    const double most = sink_->budget()->max_seconds() + 1 - before_;
    const double seconds = CountSeconds(bytes_, size_, sniffed_, *sink_->budget(), usual, most);
    sink_->CheckSeconds(before_ + seconds - 1);
  }

  const uint8_t* bytes_;
  size_t size_;
  const Sniffed sniffed_;
  Sink* sink_;
  const double before_;  // seconds in the sink
  Demuxer demuxer_;
  const double trusted_;  // seconds of the declared duration that are believed
  StreamDecoder decoder_;
  const std::string codec_;  // as the header names it: the demuxer may correct it while it reads
  std::unique_ptr<AVPacket, Free> packet_;
  size_t packets_ = 0;
  bool counted_ = false;
  bool drained_ = false;
};

}  // namespace

double CountSeconds(const uint8_t* bytes, size_t size, const Sniffed& sniffed, const DecodeBudget& budget,
                    double usual, double most) {
  Demuxer demuxer(bytes, size, sniffed, budget);
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

std::unique_ptr<Decoder> OpenLibav(const uint8_t* bytes, size_t size, const Sniffed& sniffed, Sink* sink) {
  return std::make_unique<LibavDecoder>(bytes, size, sniffed, sink);
}

}  // namespace undertone
