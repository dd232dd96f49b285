#include "decode/demuxer.h"

#include <cmath>
#include <mutex>
#include <new>
#include <string>

extern "C" {
#include <libavutil/dict.h>
#include <libavutil/log.h>
#include <libavutil/mem.h>
}

#include "decode/codecs.h"

namespace undertone {
namespace {

// Largest single allocation by libav, in bytes. The limit applies to the whole process and is therefore a
// constant: whether a file is accepted must not depend on files before it. It has room for the index of a day
// of packets of 20 ms, at 24 bytes each and twice that while it grows. What one file may declare is checked
// against its own limits, see CheckPackets.
constexpr size_t kMaxAllocation = size_t{224} << 20;
constexpr double kMaxPacketsPerSecond = 1000;
constexpr double kMinPacketLimit = 1 << 16;
constexpr int kMostStreams = 16;
constexpr int kMostShown = 4;  // of MP4, where further tracks are hidden and each has an index at once
// Packets that share their bytes, or swell when they are inflated: so many times the file, and some more.
constexpr double kMostSwelling = 4;
constexpr double kSmallSwelling = 1 << 20;

void ConfigureLibav() {
  static std::once_flag configured;
  std::call_once(configured, [] {
    av_log_set_callback([](void*, int, const char*, va_list) {});
    av_max_alloc(kMaxAllocation);
  });
}

// A file that declares more packets is longer than the limit, or its tables lie. libav builds an index of
// them before the first packet is read.
Veil CheckPackets(Veil veil, const DecodeBudget& budget) {
  const double limit = kMinPacketLimit + kMaxPacketsPerSecond * budget.max_seconds();
  if (veil.declared_packets > limit) {
    throw Error(ErrorCode::kTooLong,
                "Expected at most " + std::to_string(std::llround(limit)) + " packets of audio, got more");
  }
  return veil;
}

// A copy that libav frees. A null allow-list would allow everything.
char* CopyString(const char* text) {
  char* copy = av_strdup(text);
  if (copy == nullptr) throw std::bad_alloc();
  return copy;
}

int RefuseOpen(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) { return AVERROR(EPERM); }

int IsStopped(void* budget) { return static_cast<const DecodeBudget*>(budget)->Stopped() ? 1 : 0; }

// MP4 says so by the name of the coding, Matroska by a key, which libav tells of in a tag.
bool IsEncrypted(const AVStream& stream) {
  const uint32_t tag = stream.codecpar->codec_tag;
  return av_dict_get(stream.metadata, "enc_key_id", nullptr, 0) != nullptr ||
         tag == MKTAG('e', 'n', 'c', 'a') || tag == MKTAG('d', 'r', 'm', 's') ||
         tag == MKTAG('p', 'r', 'o', 't') || tag == MKTAG('a', 'a', 'v', 'd');
}

[[noreturn]] void ThrowDamaged(const Sniffed& sniffed) {
  throw Error(ErrorCode::kMalformed, "Expected a readable " + sniffed.container + " file, got a damaged one");
}

}  // namespace

Demuxer::Demuxer(const uint8_t* bytes, size_t size, const Sniffed& sniffed, const DecodeBudget& budget)
    : budget_(budget),
      file_(bytes, CheckPackets(MakeVeil(bytes, size, sniffed.kind), budget), budget),
      bytes_left_(kMostSwelling * static_cast<double>(size) + kSmallSwelling) {
  ConfigureLibav();
  try {
    Open(sniffed);
    SelectStream(sniffed);
  } catch (...) {
    avformat_close_input(&format_);
    throw;
  }
}

Demuxer::~Demuxer() { avformat_close_input(&format_); }

void Demuxer::Open(const Sniffed& sniffed) {
  const char* name = DemuxerName(sniffed.kind);
  const AVInputFormat* demuxer = av_find_input_format(name);
  format_ = avformat_alloc_context();
  if (format_ == nullptr || demuxer == nullptr) throw std::bad_alloc();
  format_->pb = file_.context();
  format_->flags |= AVFMT_FLAG_CUSTOM_IO;
  format_->interrupt_callback = {IsStopped, const_cast<DecodeBudget*>(&budget_)};
  format_->io_open = RefuseOpen;
  format_->max_streams = sniffed.kind == Kind::kMp4 ? kMostShown : kMostStreams;
  format_->protocol_whitelist = CopyString("");
  format_->format_whitelist = CopyString(demuxer->name);
  format_->codec_whitelist = CopyString(AllowedDecoderNames().c_str());
  const int result = avformat_open_input(&format_, "", demuxer, nullptr);
  budget_.Check();
  if (result < 0) ThrowDamaged(sniffed);
}

void Demuxer::SelectStream(const Sniffed& sniffed) {
  bool video = false;
  for (unsigned i = 0; i < format_->nb_streams; ++i) {
    AVStream* stream = format_->streams[i];
    const AVMediaType type = stream->codecpar->codec_type;
    video = video || (type == AVMEDIA_TYPE_VIDEO && (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) == 0);
    if (stream_ == nullptr && type == AVMEDIA_TYPE_AUDIO) {
      stream_ = stream;
    } else {
      stream->discard = AVDISCARD_ALL;
    }
  }
  if (stream_ == nullptr) {
    if (video) throw Error(ErrorCode::kUnsupported, "Expected an audio stream, got a video without one");
    if (format_->nb_streams > 0)
      throw Error(ErrorCode::kUnsupported, "Expected an audio stream, got other streams alone");
    ThrowDamaged(sniffed);
  }
  if (IsEncrypted(*stream_)) {
    throw Error(ErrorCode::kUnsupported,
                "Expected open audio, got an encrypted " + sniffed.container + " file");
  }
}

bool Demuxer::Read(AVPacket* packet) {
  for (;;) {
    budget_.Check();
    const int result = av_read_frame(format_, packet);
    if (result < 0) {
      budget_.Check();
      broken_ = broken_ || result != AVERROR_EOF;
      return false;
    }
    bytes_left_ -= packet->size;
    if (bytes_left_ < 0) {
      av_packet_unref(packet);
      throw Error(ErrorCode::kMalformed, "Expected packets that the file has room for, got far larger ones");
    }
    if (packet->stream_index == stream_->index) {
      broken_ = broken_ || (packet->flags & AV_PKT_FLAG_CORRUPT) != 0;
      return true;
    }
    av_packet_unref(packet);
  }
}

double Demuxer::ClaimedStreamSeconds() const {
  if (stream_->duration == AV_NOPTS_VALUE || stream_->duration <= 0) return 0;
  return static_cast<double>(stream_->duration) * av_q2d(stream_->time_base);
}

double Demuxer::ClaimedSeconds() const {
  const double seconds = ClaimedStreamSeconds();
  if (seconds > 0 || format_->duration == AV_NOPTS_VALUE || format_->duration <= 0) return seconds;
  return static_cast<double>(format_->duration) / AV_TIME_BASE;
}

}  // namespace undertone
