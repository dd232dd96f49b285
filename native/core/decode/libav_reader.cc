#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decode/audio_reader.h"
#include "decode/container.h"
#include "decode/container_sanitizer.h"
#include "decode/decoder.h"
#include "decode/demuxer.h"
#include "decode/ogg_opus_clock.h"

namespace undertone {
namespace {

constexpr double kMinBytesPerSecond = 1000;  // below it a declared duration is not trusted
constexpr double kMaxPacketSeconds = 16.4;   // longest FLAC block: 65,535 samples at 4 kHz
// A file is truncated when more than 2 % plus 0.2 s (codec delay, padding) of its declared duration is
// missing.
constexpr double kMaxMissingShare = 0.02;
constexpr double kMaxMissingSeconds = 0.2;
// Audio decoded beyond the trusted duration before SumPacketDurations runs over the file.
constexpr double kMaxUndeclaredSeconds = 60;

// Audio may end so much before the picture.
constexpr double kMaxShareBeforeEnd = 0.02;
constexpr double kMaxSecondsBeforeEnd = 1;

constexpr int kMaxListedTracks = 8;  // in an error

// Checks what the header declares against the limits, where the file is large enough for it. Returns the
// trusted duration in seconds, which the stream may be below; 0 for none.
double CheckDeclaredFormat(const Demuxer& demuxer, size_t size, Sink* sink) {
  const int channels = demuxer.stream().codecpar->ch_layout.nb_channels;
  if (channels > 0) sink->CheckChannels(channels);
  const double seconds = demuxer.DeclaredSeconds();
  if (seconds * kMinBytesPerSecond > static_cast<double>(size)) return 0;
  // Another stream of the file may be the longer one.
  const bool too_long = seconds - kDurationToleranceSeconds > sink->budget().max_seconds();
  if (too_long && !demuxer.only_stream() && demuxer.DeclaredStreamSeconds() == 0) return 0;
  sink->CheckSeconds(seconds - kDurationToleranceSeconds);
  sink->ReserveDuration(seconds);
  return seconds;
}

std::unique_ptr<Demuxer> OpenDemuxer(const uint8_t* bytes, size_t size, const ProbeResult& probe,
                                     const TrackChoice& choice, const DecodeBudget& budget) {
  return std::make_unique<Demuxer>(
      bytes, size, probe, SanitizeContainer(bytes, size, probe.format, choice, budget), choice, budget);
}

// Sums the packet durations of a stream without decoding; packets without one count as `default_seconds`.
// Finds hours of silence in a few kilobytes before they take memory. Stops after `max_seconds`. Throws what
// the demuxer throws.
double SumPacketDurations(const uint8_t* bytes, size_t size, const ProbeResult& probe,
                          const TrackChoice& choice, const DecodeBudget& budget, double default_seconds,
                          double max_seconds) {
  const auto demuxer = OpenDemuxer(bytes, size, probe, choice, budget);
  const double unit = av_q2d(demuxer->stream().time_base);
  const auto packet = Own(av_packet_alloc());
  double seconds = 0;
  while (seconds <= max_seconds && demuxer->Read(packet.get())) {
    seconds += packet->duration > 0
                   ? std::min(static_cast<double>(packet->duration) * unit, kMaxPacketSeconds)
                   : default_seconds;
    av_packet_unref(packet.get());
  }
  return seconds;
}

void RejectEncrypted(const Demuxer& demuxer, const ProbeResult& probe) {
  if (!demuxer.encrypted()) return;
  throw Error(ErrorCode::kUnsupported,
              "Expected unencrypted audio, got an encrypted " + probe.container + " file");
}

// Reads one track. Writes one frame per step.
class LibavReader : public AudioReader {
 public:
  LibavReader(const uint8_t* bytes, size_t size, const ProbeResult& probe, std::unique_ptr<Demuxer> demuxer,
              Sink* sink)
      : bytes_(bytes),
        size_(size),
        probe_(probe),
        sink_(sink),
        start_seconds_(sink->seconds()),
        demuxer_(std::move(demuxer)),
        decoder_(demuxer_->stream(), sink),
        trusted_seconds_(CheckDeclaredFormat(*demuxer_, size, sink)),
        codec_(avcodec_get_name(demuxer_->stream().codecpar->codec_id)),
        packet_(Own(av_packet_alloc())) {
    span_ = FindRecordingSpan(bytes, size, probe.format, sink->budget());
    if (probe.format == ContainerFormat::kOgg && !demuxer_->only_stream()) span_.start = FirstTimestamp();
    if (span_.start) decoder_.StartAt(*span_.start + demuxer_->TrimmedSeconds());
    if (probe.format == ContainerFormat::kOgg && demuxer_->stream().codecpar->codec_id == AV_CODEC_ID_OPUS)
      opus_clock_.emplace(bytes, size, demuxer_->only_stream());
  }

  bool Step() override {
    while (!decoder_.WriteFrame()) {
      if (drained_) {
        if (decoded_seconds() == 0 && packets_ > 0) decoder_.RejectVariant();
        if (std::exchange(ended_, true) || !EndInSilence()) return false;
        continue;
      }
      av_packet_unref(packet_.get());
      if (!duration_checked_ && decoded_seconds() > trusted_seconds_ + kMaxUndeclaredSeconds)
        CheckTotalDuration();
      if (demuxer_->Read(packet_.get())) {
        ++packets_;
        if (opus_clock_ && !PlaceOpusPacket()) continue;
        if (packets_ == 1 && BeginsNearZero()) StartAtZero();
        decoder_.SendPacket(packet_.get());
      } else {
        drained_ = true;
        ends_early_ = ContainerEndsEarly(bytes_, size_, probe_.format,
                                         static_cast<size_t>(demuxer_->stream().index), sink_->budget());
        decoder_.SendPacket(nullptr);
      }
    }
    return true;
  }

  ReadStatus status() const override {
    const double declared = demuxer_->DeclaredStreamSeconds();
    // The duration of a link of Ogg may count from the start of the links before it; its end has a mark.
    const bool is_short = probe_.format != ContainerFormat::kOgg &&
                          decoded_seconds() < declared * (1 - kMaxMissingShare) - kMaxMissingSeconds;
    // FLAC frames have no length, but the part of one does not decode.
    const bool ends_in_part = probe_.format == ContainerFormat::kFlac && decoder_.last_packet_failed();
    return {packets_, demuxer_->corrupt() || ends_early_ || ends_in_part || is_short,
            demuxer_->has_unread_data() || decoder_.skipped_damage()};
  }

  std::string codec() const override { return codec_; }
  SelectedTrack track() const override { return demuxer_->track(); }

 private:
  // Returns false for a repeated header.
  bool PlaceOpusPacket() {
    const auto size = static_cast<size_t>(packet_->size);
    const auto page = static_cast<size_t>(std::max<int64_t>(0, packet_->pos));
    packet_->pts = opus_clock_->Timestamp(page, packet_->data, size);
    return !IsOpusHeader(packet_->data, size);
  }

  double decoded_seconds() const { return sink_->seconds() - start_seconds_; }

  // Of all streams.
  std::optional<double> FirstTimestamp() const {
    const auto start = OpenDemuxer(bytes_, size_, probe_, {track().index}, sink_->budget())->NextTimestamp();
    if (!start) return start;
    return std::max(*start, 0.0);
  }

  // Whether a lone stream of Ogg counts from 0: missing audio in its first page makes it begin later.
  bool BeginsNearZero() const {
    if (probe_.format != ContainerFormat::kOgg || !demuxer_->only_stream()) return false;
    return packet_->pts > 0 && PacketSeconds() <= kMaxOggStartSeconds;
  }

  double PacketSeconds() const {
    return static_cast<double>(packet_->pts) * av_q2d(demuxer_->stream().time_base);
  }

  // The declared duration counts from the first packet.
  void StartAtZero() {
    decoder_.StartAt(0);
    if (trusted_seconds_ > 0) sink_->ReserveDuration(trusted_seconds_ + PacketSeconds());
  }

  // Silence follows audio that ends well before the picture. Returns whether it does.
  bool EndInSilence() {
    const bool is_alone = demuxer_->only_stream() || track().count > 1;
    if (is_alone || decoded_seconds() == 0 || status().truncated) return false;
    const double end = std::max(demuxer_->DeclaredFileSeconds(), span_.end - span_.start.value_or(0));
    const double missing = end - decoded_seconds();
    const bool is_trusted = end * kMinBytesPerSecond <= static_cast<double>(size_);
    const bool fits = start_seconds_ + end <= sink_->budget().max_seconds();
    if (!is_trusted || !fits || missing <= kMaxSecondsBeforeEnd + kMaxShareBeforeEnd * end) return false;
    decoder_.EndInSilence(missing);
    return true;
  }

  void CheckTotalDuration() {
    duration_checked_ = true;
    const double mean = (decoded_seconds() - sink_->missing_seconds()) / static_cast<double>(packets_);
    const double max = sink_->budget().max_seconds() + kDurationToleranceSeconds - start_seconds_;
    const double seconds = SumPacketDurations(bytes_, size_, probe_, {track().index}, sink_->budget(), mean, max);
    sink_->CheckSeconds(start_seconds_ + seconds - kDurationToleranceSeconds);
  }

  const uint8_t* bytes_;
  size_t size_;
  const ProbeResult probe_;
  Sink* sink_;
  const double start_seconds_;  // seconds in the sink when this file was opened
  const std::unique_ptr<Demuxer> demuxer_;
  Decoder decoder_;
  const double trusted_seconds_;  // declared duration in seconds, 0 where it is not trusted
  const std::string codec_;  // at opening: the demuxer may change it while it reads
  std::unique_ptr<AVPacket, LibavDeleter> packet_;
  std::optional<OggOpusClock> opus_clock_;
  size_t packets_ = 0;
  bool duration_checked_ = false;
  RecordingSpan span_;
  bool drained_ = false;
  bool ended_ = false;
  bool ends_early_ = false;
};

// A link that cannot be read. Other errors are about limits and end the decode.
bool IsUnreadable(const Error& error) {
  return error.code == ErrorCode::kMalformed || error.code == ErrorCode::kUnsupported ||
         error.code == ErrorCode::kTrack;
}

// Whether another track of the file may decode.
bool IsAboutTrack(const Error& error) {
  return IsUnreadable(error) || error.code == ErrorCode::kTooManyChannels ||
         error.code == ErrorCode::kSampleRate;
}

// Reads the track that the options choose; without a choice the first that decodes.
class TrackReader : public AudioReader {
 public:
  TrackReader(const uint8_t* bytes, size_t size, const ProbeResult& probe, Sink* sink)
      : bytes_(bytes),
        size_(size),
        probe_(probe),
        sink_(sink),
        start_seconds_(sink->seconds()),
        choice_{sink->track()} {
    Open();
  }

  bool Step() override {
    for (;; ++choice_.rank, Open()) {
      try {
        if (reader_->Step()) return true;
        if (!HasNext()) return false;
      } catch (const Error& error) {
        if (!IsAboutTrack(error) || !HasNext()) throw;
      }
    }
  }

  ReadStatus status() const override { return reader_->status(); }
  std::string codec() const override { return reader_->codec(); }
  SelectedTrack track() const override { return reader_->track(); }

 private:
  bool HasNext() const {
    const bool decoded = sink_->seconds() > start_seconds_;
    return !decoded && choice_.index < 0 && choice_.rank + 1 < static_cast<size_t>(count_);
  }

  // Opens the chosen track, or the next that can be opened.
  void Open() {
    for (;; ++choice_.rank) {
      try {
        auto demuxer = OpenDemuxer(bytes_, size_, probe_, choice_, sink_->budget());
        count_ = demuxer->track().count;
        RejectEncrypted(*demuxer, probe_);
        reader_ = std::make_unique<LibavReader>(bytes_, size_, probe_, std::move(demuxer), sink_);
        return;
      } catch (const Error& error) {
        if (!IsAboutTrack(error)) throw;
        if (!HasNext()) throw Error(error.code, error.what() + ListTracks());
      }
    }
  }

  // The tracks of a file that has several, for an error.
  std::string ListTracks() const {
    std::string list;
    TrackChoice choice{0};
    try {
      for (; choice.index < kMaxListedTracks; ++choice.index) {
        const auto demuxer = OpenDemuxer(bytes_, size_, probe_, choice, sink_->budget());
        if (demuxer->track().count == 1) return "";
        list += (list.empty() ? ": " : "; ") + std::to_string(choice.index) + " is " + demuxer->Describe();
      }
    } catch (const Error& error) {
      if (!IsUnreadable(error)) throw;
    }
    return list;
  }

  const uint8_t* bytes_;
  size_t size_;
  const ProbeResult probe_;
  Sink* sink_;
  const double start_seconds_;  // as in LibavReader
  TrackChoice choice_;
  int count_ = 0;  // tracks of the file; 0: unknown
  std::unique_ptr<LibavReader> reader_;
};

// Reads the links of an Ogg file in turn.
class OggChainReader : public AudioReader {
 public:
  OggChainReader(const uint8_t* bytes, size_t size, const ProbeResult& probe, Sink* sink)
      : bytes_(bytes), probe_(probe), sink_(sink), links_(OggLinks(bytes, size)) {
    links_.push_back(size);
    OpenNext();
    codec_ = link_->codec();
    track_ = link_->track();
  }

  bool Step() override {
    while (link_ != nullptr) {
      try {
        if (link_->Step()) return true;
        const ReadStatus ended = link_->status();
        status_.packets += ended.packets;
        status_.truncated = status_.truncated || (ended.truncated && !IsContinued());
        status_.unread = status_.unread || ended.unread;
        OpenNext();
      } catch (const Error& error) {
        // Errors of the first link are rethrown.
        if (next_ <= 1 || !IsUnreadable(error)) throw;
        status_.truncated = true;
        link_.reset();
      }
    }
    return false;
  }

  ReadStatus status() const override { return status_; }
  std::string codec() const override { return codec_; }
  SelectedTrack track() const override { return track_; }

 private:
  // Whether headers that are repeated inside a stream ended the link.
  bool IsContinued() const {
    return next_ + 1 < links_.size() && OggContinues(bytes_, links_[next_ - 1], links_[next_], links_[next_ + 1]);
  }

  void OpenNext() {
    link_.reset();
    if (next_ + 1 == links_.size()) return;
    if (!duration_checked_ && sink_->seconds() > kMaxUndeclaredSeconds) CheckRemainingDuration();
    const size_t at = next_++;
    link_ = std::make_unique<TrackReader>(bytes_ + links_[at], links_[at + 1] - links_[at], probe_, sink_);
  }

  // Checks the duration of the remaining links, up to the first unreadable one, before they are decoded.
  void CheckRemainingDuration() {
    duration_checked_ = true;
    const double max = sink_->budget().max_seconds() + kDurationToleranceSeconds;
    double seconds = sink_->seconds();
    try {
      for (size_t i = next_; i + 1 < links_.size() && seconds <= max; ++i) {
        seconds += SumPacketDurations(bytes_ + links_[i], links_[i + 1] - links_[i], probe_, {sink_->track()},
                                      sink_->budget(), 0, max - seconds);
      }
    } catch (const Error& error) {
      if (!IsUnreadable(error)) throw;
    }
    sink_->CheckSeconds(seconds - kDurationToleranceSeconds);
  }

  const uint8_t* bytes_;
  const ProbeResult probe_;
  Sink* sink_;
  std::vector<size_t> links_;  // offsets, and the end of the file
  size_t next_ = 0;            // link to open next
  std::unique_ptr<TrackReader> link_;
  std::string codec_;  // of the first link, as the track
  SelectedTrack track_;
  ReadStatus status_;
  bool duration_checked_ = false;
};

}  // namespace

std::unique_ptr<AudioReader> OpenLibav(const uint8_t* bytes, size_t size, const ProbeResult& probe,
                                       Sink* sink) {
  if (probe.format == ContainerFormat::kOgg)
    return std::make_unique<OggChainReader>(bytes, size, probe, sink);
  return std::make_unique<TrackReader>(bytes, size, probe, sink);
}

}  // namespace undertone
