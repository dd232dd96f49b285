#include "decode/demuxer.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <mutex>
#include <new>
#include <string>
#include <utility>

extern "C" {
#include <libavutil/common.h>
#include <libavutil/dict.h>
#include <libavutil/error.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/log.h>
#include <libavutil/mem.h>
}

#include "decode/decoder.h"

namespace undertone {
namespace {

constexpr int kBufferBytes = 2048;  // between two checks of the budget
// Largest single allocation by libav, in bytes. The limit is process-wide, so it is a constant: whether a
// file is accepted does not depend on earlier files. The index of 24 hours of 20 ms packets fits in, at 24
// bytes per packet and twice that while it grows. CheckDeclaredPackets applies the limits of one file.
constexpr size_t kMaxAllocation = size_t{224} << 20;
constexpr double kMaxPacketsPerSecond = 1000;
constexpr double kMinPacketLimit = 1 << 16;
// Packets may share bytes of the file or be compressed: limit on their sum relative to the file, plus a
// constant.
constexpr double kMaxPacketExpansion = 4;
constexpr double kPacketExpansionSlackBytes = 1 << 20;

// Applies the patches for the `count` bytes of the file from `at`.
void ApplyPatches(const std::vector<Patch>& patches, size_t at, uint8_t* to, size_t count) {
  auto patch = std::lower_bound(patches.begin(), patches.end(), at,
                                [](const Patch& one, size_t offset) { return one.at < offset; });
  for (; patch != patches.end() && patch->at < at + count; ++patch) to[patch->at - at] = patch->byte;
}

// The libav demuxer of a format; libav never probes.
const char* DemuxerName(ContainerFormat format) {
  static constexpr const char* kNames[] = {"wav", "mp3",  "aac", "flac", "ogg", "matroska",
                                           "mov", "aiff", "caf", "amr",  "au",  "w64"};
  static_assert(std::size(kNames) == static_cast<size_t>(ContainerFormat::kW64) + 1);
  return kNames[static_cast<size_t>(format)];
}

void ConfigureLibav() {
  static std::once_flag configured;
  std::call_once(configured, [] {
    av_log_set_callback([](void*, int, const char*, va_list) {});
    av_max_alloc(kMaxAllocation);
  });
}

// libav builds an index of all declared packets before the first one is read.
void CheckDeclaredPackets(double packets, const DecodeBudget& budget) {
  const double limit = kMinPacketLimit + kMaxPacketsPerSecond * budget.max_seconds();
  if (packets <= limit) return;
  throw Error(ErrorCode::kTooLong,
              "Expected at most " + std::to_string(std::llround(limit)) + " packets of audio, got more");
}

// Returns a copy that libav frees. Throws where it is null: libav reads a null allow-list as "allow all".
char* CopyString(const char* text) {
  char* copy = av_strdup(text);
  if (copy == nullptr) throw std::bad_alloc();
  return copy;
}

int RefuseOpen(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) { return AVERROR(EPERM); }

int ShouldStop(void* budget) { return static_cast<const DecodeBudget*>(budget)->ShouldStop() ? 1 : 0; }

// A code of ISO 639-2 that names one: not "und".
bool IsLanguage(const std::string& code) {
  return code.size() == 3 && code != "und" &&
         std::all_of(code.begin(), code.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

[[noreturn]] void ThrowCorrupt(const ProbeResult& probe) {
  throw Error(ErrorCode::kMalformed, "Expected a readable " + probe.container + " file, got a corrupt one");
}

}  // namespace

MemoryReader::MemoryReader(const uint8_t* bytes, size_t size, std::vector<Patch> patches,
                           const DecodeBudget& budget)
    : bytes_(bytes), size_(static_cast<int64_t>(size)), patches_(std::move(patches)), budget_(budget) {
  auto* buffer = static_cast<uint8_t*>(av_malloc(kBufferBytes));
  if (buffer == nullptr) throw std::bad_alloc();
  context_ = avio_alloc_context(buffer, kBufferBytes, 0, this, Read, nullptr, Seek);
  if (context_ != nullptr) return;
  av_free(buffer);
  throw std::bad_alloc();
}

MemoryReader::~MemoryReader() {
  av_freep(&context_->buffer);
  avio_context_free(&context_);
}

int MemoryReader::Read(void* opaque, uint8_t* to, int count) {
  auto* reader = static_cast<MemoryReader*>(opaque);
  if (reader->budget_.ShouldStop()) return AVERROR_EXIT;
  const int64_t copied = std::min<int64_t>(count, reader->size_ - reader->position_);
  if (copied <= 0) return AVERROR_EOF;
  std::memcpy(to, reader->bytes_ + reader->position_, static_cast<size_t>(copied));
  ApplyPatches(reader->patches_, static_cast<size_t>(reader->position_), to, static_cast<size_t>(copied));
  reader->position_ += copied;
  return static_cast<int>(copied);
}

int64_t MemoryReader::Seek(void* opaque, int64_t offset, int whence) {
  auto* reader = static_cast<MemoryReader*>(opaque);
  const int from = whence & ~AVSEEK_FORCE;
  if (from == AVSEEK_SIZE) return reader->size_;
  if (from != SEEK_SET && from != SEEK_CUR && from != SEEK_END) return AVERROR(EINVAL);
  const int64_t base = from == SEEK_SET ? 0 : from == SEEK_CUR ? reader->position_ : reader->size_;
  if (offset < -base || offset > reader->size_ - base) return AVERROR(EINVAL);
  reader->position_ = base + offset;
  return reader->position_;
}

Demuxer::Demuxer(const uint8_t* bytes, size_t size, const ProbeResult& probe, SanitizedContainer sanitized,
                 const TrackChoice& choice, const DecodeBudget& budget)
    : budget_(budget),
      reader_(bytes, size, std::move(sanitized.patches), budget),
      only_stream_(!sanitized.masked_tracks),
      has_unread_data_(sanitized.has_unread_data),
      delay_(sanitized.delay),
      packet_bytes_left_(kMaxPacketExpansion * static_cast<double>(size) + kPacketExpansionSlackBytes) {
  ConfigureLibav();
  CheckDeclaredPackets(sanitized.declared_packets, budget);
  try {
    Open(probe);
    SelectStream(probe, sanitized.track ? TrackChoice{} : choice);
    if (sanitized.track) track_ = *sanitized.track;
  } catch (...) {
    avformat_close_input(&format_);
    throw;
  }
}

Demuxer::~Demuxer() { avformat_close_input(&format_); }

void Demuxer::Open(const ProbeResult& probe) {
  const char* name = DemuxerName(probe.format);
  const AVInputFormat* demuxer = av_find_input_format(name);
  if (demuxer == nullptr)
    throw Error(ErrorCode::kInternal, std::string("libavformat has no demuxer ") + name);
  format_ = avformat_alloc_context();
  if (format_ == nullptr) throw std::bad_alloc();
  format_->pb = reader_.context();
  format_->flags |= AVFMT_FLAG_CUSTOM_IO;
  format_->interrupt_callback = {ShouldStop, const_cast<DecodeBudget*>(&budget_)};
  format_->io_open = RefuseOpen;
  format_->max_streams = kMaxStreams;
  format_->protocol_whitelist = CopyString("");
  format_->format_whitelist = CopyString(demuxer->name);
  format_->codec_whitelist = CopyString(AllowedDecoderNames().c_str());
  const int result = avformat_open_input(&format_, "", demuxer, nullptr);
  budget_.Check();
  if (result < 0) ThrowCorrupt(probe);
}

void Demuxer::SelectStream(const ProbeResult& probe, const TrackChoice& choice) {
  bool video = false;
  std::vector<AVStream*> audio;
  std::vector<bool> marked;
  for (unsigned i = 0; i < format_->nb_streams; ++i) {
    AVStream* stream = format_->streams[i];
    const AVMediaType type = stream->codecpar->codec_type;
    video = video || (type == AVMEDIA_TYPE_VIDEO && (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) == 0);
    stream->discard = AVDISCARD_ALL;
    if (type != AVMEDIA_TYPE_AUDIO) continue;
    audio.push_back(stream);
    marked.push_back((stream->disposition & AV_DISPOSITION_DEFAULT) != 0);
  }
  only_stream_ = only_stream_ && format_->nb_streams == 1;
  if (audio.empty()) {
    if (video) throw Error(ErrorCode::kUnsupported, "Expected an audio stream, got a video without one");
    if (format_->nb_streams > 0)
      throw Error(ErrorCode::kUnsupported, "Expected an audio stream, got only other streams");
    ThrowCorrupt(probe);
  }
  track_ = SelectTrack(marked, choice);
  stream_ = audio[static_cast<size_t>(track_.index)];
  stream_->discard = AVDISCARD_DEFAULT;
  // The duration of a fragmented MP4 is the end of its last fragment, which may be one of a long stream.
  const AVIndexEntry* first = avformat_index_get_entry(stream_, 0);
  if (probe.format == ContainerFormat::kMp4 && first != nullptr)
    first_timestamp_ = std::max<int64_t>(0, first->timestamp);
  // Blocks of Matroska hold whole frames. The parser would join blocks without any, up to kMaxAllocation.
  if (probe.format == ContainerFormat::kMatroska && stream_->codecpar->codec_id == AV_CODEC_ID_MP3) {
    format_->flags |= AVFMT_FLAG_NOPARSE;
  }
}

bool Demuxer::encrypted() const {
  const uint32_t tag = stream_->codecpar->codec_tag;
  return av_dict_get(stream_->metadata, "enc_key_id", nullptr, 0) != nullptr ||
         tag == MKTAG('e', 'n', 'c', 'a') || tag == MKTAG('d', 'r', 'm', 's') ||
         tag == MKTAG('p', 'r', 'o', 't') || tag == MKTAG('a', 'a', 'v', 'd');
}

std::string Demuxer::Describe() const {
  const AVCodecID codec = stream_->codecpar->codec_id;
  const int channels = stream_->codecpar->ch_layout.nb_channels;
  const AVDictionaryEntry* language = av_dict_get(stream_->metadata, "language", nullptr, 0);
  std::string text = codec == AV_CODEC_ID_NONE ? "an unknown codec" : avcodec_get_name(codec);
  if (channels > 0) text += ", " + std::to_string(channels) + (channels == 1 ? " channel" : " channels");
  if (language != nullptr && IsLanguage(language->value)) text += ", " + std::string(language->value);
  return text;
}

bool Demuxer::Read(AVPacket* packet) {
  for (;;) {
    budget_.Check();
    const int result = av_read_frame(format_, packet);
    if (result < 0) {
      budget_.Check();
      corrupt_ = corrupt_ || result != AVERROR_EOF;
      return false;
    }
    packet_bytes_left_ -= packet->size;
    if (packet_bytes_left_ < 0) {
      av_packet_unref(packet);
      throw Error(ErrorCode::kMalformed, "Packets add up to far more bytes than the file");
    }
    if (packet->stream_index == stream_->index && (!delay_ || TrimDelay(packet))) {
      corrupt_ = corrupt_ || (packet->flags & AV_PKT_FLAG_CORRUPT) != 0;
      return true;
    }
    av_packet_unref(packet);
  }
}

bool Demuxer::HasSampleTimestamps() const {
  return av_cmp_q(stream_->time_base, {1, stream_->codecpar->sample_rate}) == 0;
}

double Demuxer::TrimmedSeconds() const {
  return delay_ && HasSampleTimestamps() ? static_cast<double>(delay_->priming) * av_q2d(stream_->time_base) : 0;
}

bool Demuxer::TrimDelay(AVPacket* packet) const {
  if (!HasSampleTimestamps()) return true;
  const int64_t packet_end = av_sat_add64(packet->pts, packet->duration);
  const int64_t end = delay_->length > 0 ? delay_->priming + delay_->length : packet_end;
  if (packet->pts >= end && packet->pts > 0) return false;
  const int64_t before = packet->pts == 0 ? delay_->priming : 0;
  const int64_t after = packet_end > end ? packet_end - end : 0;  // without a timestamp the difference overflows
  if (before == 0 && after == 0) return true;
  constexpr size_t kSideDataBytes = 10;
  uint8_t* data = av_packet_new_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, kSideDataBytes);
  if (data == nullptr) throw std::bad_alloc();
  std::fill_n(data, kSideDataBytes, uint8_t{0});
  AV_WL32(data, static_cast<uint32_t>(before));
  AV_WL32(data + 4, static_cast<uint32_t>(after));
  return true;
}

double Demuxer::DeclaredStreamSeconds() const {
  if (stream_->duration == AV_NOPTS_VALUE || stream_->duration <= first_timestamp_) return 0;
  return static_cast<double>(stream_->duration - first_timestamp_) * av_q2d(stream_->time_base);
}

double Demuxer::DeclaredSeconds() const {
  const double seconds = DeclaredStreamSeconds();
  return seconds > 0 ? seconds : DeclaredFileSeconds();
}

double Demuxer::DeclaredFileSeconds() const {
  if (format_->duration == AV_NOPTS_VALUE || format_->duration <= 0) return 0;
  return static_cast<double>(format_->duration) / AV_TIME_BASE;
}

std::optional<double> Demuxer::NextTimestamp() {
  constexpr int kMaxPackets = 100;
  for (unsigned i = 0; i < format_->nb_streams; ++i) format_->streams[i]->discard = AVDISCARD_DEFAULT;
  const auto packet = Own(av_packet_alloc());
  for (int count = 0; count < kMaxPackets; ++count) {
    budget_.Check();
    if (av_read_frame(format_, packet.get()) < 0) break;
    const AVStream& stream = *format_->streams[packet->stream_index];
    const int64_t timestamp = packet->pts;
    av_packet_unref(packet.get());
    if (timestamp != AV_NOPTS_VALUE) return static_cast<double>(timestamp) * av_q2d(stream.time_base);
  }
  return std::nullopt;
}

}  // namespace undertone
