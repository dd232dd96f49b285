#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

extern "C" {
#include <libavformat/avformat.h>
}

#include "decode/container_sanitizer.h"
#include "decode/probe.h"

namespace undertone {

// An AVIOContext over bytes in memory, with patches applied. Every read checks the budget.
class MemoryReader {
 public:
  MemoryReader(const uint8_t* bytes, size_t size, std::vector<Patch> patches, const DecodeBudget& budget);
  ~MemoryReader();
  MemoryReader(const MemoryReader&) = delete;
  MemoryReader& operator=(const MemoryReader&) = delete;

  AVIOContext* context() const { return context_; }

 private:
  static int Read(void* opaque, uint8_t* to, int count);
  static int64_t Seek(void* opaque, int64_t offset, int whence);

  const uint8_t* bytes_;
  const int64_t size_;
  const std::vector<Patch> patches_;
  int64_t position_ = 0;
  const DecodeBudget& budget_;
  AVIOContext* context_;
};

// Opens a container in memory with the demuxer of its format and reads the packets of one audio stream.
class Demuxer {
 public:
  // `choice`: that of `sanitized`. Throws kMalformed, kUnsupported (no audio stream), kTrack, kTooLong (too many
  // declared packets) and what the budget throws.
  Demuxer(const uint8_t* bytes, size_t size, const ProbeResult& probe, SanitizedContainer sanitized,
          const TrackChoice& choice, const DecodeBudget& budget);
  ~Demuxer();
  Demuxer(const Demuxer&) = delete;
  Demuxer& operator=(const Demuxer&) = delete;

  // Reads the next packet of the stream, which the caller unreferences. Returns false at the end or in
  // corrupt data. Throws kMalformed when the packets add up to far more bytes than the file.
  bool Read(AVPacket* packet);

  const AVStream& stream() const { return *stream_; }
  SelectedTrack track() const { return track_; }
  bool only_stream() const { return only_stream_; }  // of the file
  bool has_unread_data() const { return has_unread_data_; }
  // MP4 has separate sample entries for encrypted audio; Matroska has a key, which libav exports as
  // metadata.
  bool encrypted() const;
  // Codec, channels and language of the stream, where the header has them.
  std::string Describe() const;
  // Duration of the stream in the header, else of the file; 0: none.
  double DeclaredSeconds() const;
  double DeclaredStreamSeconds() const;
  double DeclaredFileSeconds() const;
  // Delay of the encoder that the tag iTunSMPB has and Read() trims; 0: none.
  double TrimmedSeconds() const;
  // Timestamp of the next packet of any stream, in seconds; absent where the packets that follow have none.
  std::optional<double> NextTimestamp();
  bool corrupt() const { return corrupt_; }  // reading ended in corrupt data, or a packet was corrupt

 private:
  void Open(const ProbeResult& probe);
  void SelectStream(const ProbeResult& probe, const TrackChoice& choice);
  bool HasSampleTimestamps() const;  // the time base is one sample
  // Marks the frames of the delay, which the decoder then leaves out. Returns false for a packet after the recording.
  bool TrimDelay(AVPacket* packet) const;

  const DecodeBudget& budget_;
  MemoryReader reader_;
  AVFormatContext* format_ = nullptr;
  AVStream* stream_ = nullptr;
  SelectedTrack track_;
  bool only_stream_;
  const bool has_unread_data_;
  const std::optional<EncoderDelay> delay_;
  int64_t first_timestamp_ = 0;  // of `stream_`, in its time base
  bool corrupt_ = false;
  double packet_bytes_left_;  // before packets exceed their share of the file
};

}  // namespace undertone
