#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include "decode/pcm_convert.h"
#include "decode/sink.h"

namespace undertone {

// Ownership of what libav allocates; Own throws when memory is short.
struct LibavDeleter {
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};

template <typename T>
std::unique_ptr<T, LibavDeleter> Own(T* thing) {
  if (thing == nullptr) throw std::bad_alloc();
  return std::unique_ptr<T, LibavDeleter>(thing);
}

// Decodes the packets of one stream, frame by frame. Damage is skipped.
class StreamDecoder {
 public:
  // Throws kUnsupported for a codec that is not supported, kMalformed for unreadable headers.
  StreamDecoder(const AVStream& stream, Sink* sink);

  // Starts on a packet, or on the end of the stream when null. The packet must stay as it is until WriteFrame
  // has returned false. Throws kUnsupported for an encrypted packet.
  void Start(const AVPacket* packet);

  // Writes the next frame that the packet decodes to. Returns false when there is none left.
  bool WriteFrame();

 private:
  void SendPacket(const AVPacket* packet);
  bool ReceiveFrame();
  void Open(const uint8_t* headers, size_t size);
  void ReplaceHeaders(const uint8_t* headers, size_t size);
  bool HasNewHeaders(const AVPacket& packet) const;
  void Reopen();
  bool IsAmr() const;
  bool SendAmrFrame();
  void SendSubpacket(int at, int length);
  void WriteSilence();
  void Write(const AVFrame& frame);
  void WriteBlock(const AVFrame& frame, Encoding encoding, size_t start, size_t count);

  const AVStream& stream_;
  Sink* sink_;
  const AVPacket* packet_ = nullptr;
  int at_ = 0;                        // bytes of an AMR packet that are sent
  bool receiving_ = false;            // the decoder may have frames
  bool reopen_ = false;               // the packet waits for a decoder with its own headers
  std::vector<const float*> planes_;  // of one block
  std::unique_ptr<AVPacket, LibavDeleter> subpacket_;
  std::unique_ptr<AVFrame, LibavDeleter> frame_;
  std::unique_ptr<AVCodecContext, LibavDeleter> context_;
};

}  // namespace undertone
