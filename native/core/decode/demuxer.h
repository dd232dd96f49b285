#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {
#include <libavformat/avformat.h>
}

#include "decode/memory_reader.h"
#include "decode/probe.h"

namespace undertone {

// A container in memory opened by its own demuxer, of which only the first audio stream is read.
class Demuxer {
 public:
  // Throws kMalformed, kUnsupported (no audio stream, encrypted) and what the budget throws.
  Demuxer(const uint8_t* bytes, size_t size, const Sniffed& sniffed, const DecodeBudget& budget);
  ~Demuxer();
  Demuxer(const Demuxer&) = delete;
  Demuxer& operator=(const Demuxer&) = delete;

  // The next packet of the stream, to be unreferenced by the caller; false at the end, in damage or when
  // stopped. Throws kMalformed where packets come to far more bytes than the file.
  bool Read(AVPacket* packet);

  const AVStream& stream() const { return *stream_; }
  // Seconds that the header claims for the file, 0 when it says nothing.
  double ClaimedSeconds() const;
  // The same for the stream alone.
  double ClaimedStreamSeconds() const;
  bool broken() const { return broken_; }  // reading ended in damage, or a packet was cut

 private:
  void Open(const Sniffed& sniffed);
  void SelectStream(const Sniffed& sniffed);

  const DecodeBudget& budget_;
  MemoryFile file_;
  AVFormatContext* format_ = nullptr;
  AVStream* stream_ = nullptr;
  bool broken_ = false;
  double bytes_left_;  // that packets may still have
};

}  // namespace undertone
