#include "decode/libav_decoder.h"

#include <algorithm>
#include <string>

#include "decode/container.h"
#include "decode/demuxer.h"
#include "decode/stream_decoder.h"

namespace undertone {
namespace {

constexpr double kMinBytesPerSecond = 1000;  // below it a declared duration is not trusted
constexpr double kMaxPacketSeconds = 16.4;   // longest FLAC block: 65,535 samples at 4 kHz
// A file is truncated when more than 2 % plus 0.2 s (codec delay, padding) of its declared duration is
// missing.
constexpr double kMaxMissingShare = 0.02;
constexpr double kMaxMissingSeconds = 0.2;

// Checks what the header declares against the limits, where the file is large enough for it. Returns the
// trusted duration in seconds, 0 for none.
double CheckDeclaredFormat(const Demuxer& demuxer, size_t size, Sink* sink) {
  const int channels = demuxer.stream().codecpar->ch_layout.nb_channels;
  if (channels > 0) sink->CheckChannels(channels);
  const double seconds = demuxer.DeclaredSeconds();
  if (seconds * kMinBytesPerSecond > static_cast<double>(size)) return 0;
  sink->CheckSeconds(seconds - kDurationToleranceSeconds);
  sink->ReserveDuration(seconds);
  return seconds;
}

// Writes one frame per step.
class LibavDecoder : public Decoder {
 public:
  LibavDecoder(const uint8_t* bytes, size_t size, const ProbeResult& probe, Sink* sink)
      : bytes_(bytes),
        size_(size),
        probe_(probe),
        sink_(sink),
        start_seconds_(sink->seconds()),
        demuxer_(bytes, size, probe, SanitizeContainer(bytes, size, probe.format, sink->budget()),
                 sink->budget()),
        trusted_seconds_(CheckDeclaredFormat(demuxer_, size, sink)),
        decoder_(demuxer_.stream(), sink),
        codec_(avcodec_get_name(demuxer_.stream().codecpar->codec_id)),
        packet_(Own(av_packet_alloc())) {}

  bool Step() override {
    while (!decoder_.WriteFrame()) {
      if (drained_) return false;
      av_packet_unref(packet_.get());
      if (!duration_checked_ && decoded_seconds() > trusted_seconds_ + kMaxUndeclaredSeconds)
        CheckTotalDuration();
      if (demuxer_.Read(packet_.get())) {
        ++packets_;
        decoder_.SendPacket(packet_.get());
      } else {
        drained_ = true;
        ends_early_ = ContainerEndsEarly(bytes_, size_, probe_.format, sink_->budget());
        decoder_.SendPacket(nullptr);
      }
    }
    return true;
  }

  DecodeStatus status() const override {
    const double declared = demuxer_.DeclaredStreamSeconds();
    const bool is_short = decoded_seconds() < declared * (1 - kMaxMissingShare) - kMaxMissingSeconds;
    // FLAC frames have no length, but the part of one does not decode.
    const bool ends_in_part = probe_.format == ContainerFormat::kFlac && decoder_.last_packet_failed();
    return {packets_, demuxer_.corrupt() || ends_early_ || ends_in_part || is_short};
  }

  std::string codec() const override { return codec_; }

 private:
  double decoded_seconds() const { return sink_->seconds() - start_seconds_; }

  void CheckTotalDuration() {
    duration_checked_ = true;
    const double mean = decoded_seconds() / static_cast<double>(packets_);
    const double max = sink_->budget().max_seconds() + kDurationToleranceSeconds - start_seconds_;
    const double seconds = SumPacketDurations(bytes_, size_, probe_, sink_->budget(), mean, max);
    sink_->CheckSeconds(start_seconds_ + seconds - kDurationToleranceSeconds);
  }

  const uint8_t* bytes_;
  size_t size_;
  const ProbeResult probe_;
  Sink* sink_;
  const double start_seconds_;  // seconds in the sink when this file was opened
  Demuxer demuxer_;
  const double trusted_seconds_;  // declared duration in seconds, 0 where it is not trusted
  StreamDecoder decoder_;
  const std::string codec_;  // at opening: the demuxer may change it while it reads
  std::unique_ptr<AVPacket, LibavDeleter> packet_;
  size_t packets_ = 0;
  bool duration_checked_ = false;
  bool drained_ = false;
  bool ends_early_ = false;
};

}  // namespace

double SumPacketDurations(const uint8_t* bytes, size_t size, const ProbeResult& probe,
                          const DecodeBudget& budget, double default_seconds, double max_seconds) {
  Demuxer demuxer(bytes, size, probe, SanitizeContainer(bytes, size, probe.format, budget), budget);
  const double unit = av_q2d(demuxer.stream().time_base);
  const auto packet = Own(av_packet_alloc());
  double seconds = 0;
  while (seconds <= max_seconds && demuxer.Read(packet.get())) {
    seconds += packet->duration > 0
                   ? std::min(static_cast<double>(packet->duration) * unit, kMaxPacketSeconds)
                   : default_seconds;
    av_packet_unref(packet.get());
  }
  return seconds;
}

std::unique_ptr<Decoder> OpenLibav(const uint8_t* bytes, size_t size, const ProbeResult& probe, Sink* sink) {
  return std::make_unique<LibavDecoder>(bytes, size, probe, sink);
}

}  // namespace undertone
