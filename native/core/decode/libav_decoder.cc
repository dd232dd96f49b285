#include "decode/libav_decoder.h"

#include <algorithm>
#include <string>

#include "decode/demuxer.h"
#include "decode/stream_decoder.h"

namespace undertone {
namespace {

constexpr double kThinnestStream = 1000;   // bytes a second below which a claimed duration is not believed
constexpr double kLongestPacket = 16.4;    // seconds: FLAC's longest block at the lowest rate
constexpr double kShortfall = 0.02;        // share of the claimed duration that may be missing
constexpr double kShortfallSeconds = 0.2;  // and as much again for delay and padding

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
  std::unique_ptr<AVPacket, LibavDeleter> packet_;
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
