#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include "decode/samples.h"
#include "decode/sink.h"
#include "decode/timeline.h"

namespace undertone {

// Owns an object of libav. Own throws std::bad_alloc for null.
struct LibavDeleter {
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};

template <typename T>
std::unique_ptr<T, LibavDeleter> Own(T* object) {
  if (object == nullptr) throw std::bad_alloc();
  return std::unique_ptr<T, LibavDeleter>(object);
}

// All allowed decoders, separated by commas: the syntax of AVFormatContext.codec_whitelist.
const std::string& AllowedDecoderNames();

// Decodes the packets of one stream, frame by frame. Skips corrupt packets. Silence takes the place of audio
// that is missing between the timestamps.
class Decoder {
 public:
  // Throws kUnsupported for a codec that is not supported, kMalformed for unreadable headers.
  Decoder(const AVStream& stream, Sink* sink);

  // Sets the timestamp at which the recording begins, in seconds, where audio begins later.
  void StartAt(double timestamp) { timeline_.StartAt(timestamp); }

  // Sends a packet to the codec; null: the end of the stream. The packet must not change until WriteFrame has
  // returned false. Throws kUnsupported for an encrypted packet.
  void SendPacket(const AVPacket* packet);

  // Writes the next decoded frame to the sink, or silence. Returns false when the packet has no more.
  bool WriteFrame();

  // Announces `seconds` of missing audio after the last frame, which WriteFrame then writes. Throws kTooLong.
  void EndInSilence(double seconds);

  // Whether silence stands for packets that the codec refused.
  bool skipped_damage() const { return skipped_damage_; }

  // Throws kUnsupported for a variant of the codec that libav may not decode.
  void RejectVariant() const;

  // Whether the codec refused the last packet.
  bool last_packet_failed() const { return last_packet_failed_; }

 private:
  void SendToCodec(const AVPacket* packet);
  bool ReceiveFrame();
  bool WriteSilence();
  void FindSilence();
  void BeginSilence(double seconds, bool is_lost);
  void Open(const uint8_t* extradata, size_t size);
  void SetExtradata(const uint8_t* extradata, size_t size);
  void Reopen();
  bool IsAmr() const;
  bool SendAmrFrame();
  void SendSubpacket(int at, int length);
  void WriteNoSpeech();
  void Write(const AVFrame& frame);
  bool SetFormat(const AVFrame& frame);
  double ToSeconds(int64_t timestamp) const;
  void WriteBlock(const AVFrame& frame, SampleFormat format, size_t start, size_t count);

  const AVStream& stream_;
  Sink* sink_;
  Timeline timeline_;
  const AVPacket* packet_ = nullptr;
  int at_ = 0;              // bytes of an AMR packet sent so far
  bool receiving_ = false;  // the decoder may have frames
  bool last_packet_failed_ = false;
  size_t silence_ = 0;  // frames to write before the one that was received
  size_t frames_ = 0;   // decoded
  bool refused_packets_ = false;  // since the last frame
  bool skipped_damage_ = false;
  bool reopen_ = false;               // the packet has new extradata; the old decoder is being drained
  std::vector<const float*> planes_;  // of one block
  std::unique_ptr<AVPacket, LibavDeleter> subpacket_;
  std::unique_ptr<AVFrame, LibavDeleter> frame_;
  std::unique_ptr<AVCodecContext, LibavDeleter> context_;
};

}  // namespace undertone
