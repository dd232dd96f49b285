#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "decode/audio_reader.h"
#include "decode/sample_chunk.h"
#include "decode/samples.h"

namespace undertone {
namespace {

constexpr uint32_t kUnknownSize = 0x7FFFF000;  // written by encoders that cannot seek back
constexpr uint16_t kExtensible = 0xFFFE;

// RIFX is RIFF in big-endian order.
struct ByteOrder {
  bool big;

  template <typename T>
  T Load(const uint8_t* from) const {
    T value = 0;
    for (size_t i = 0; i < sizeof value; ++i) {
      value = static_cast<T>(value | static_cast<T>(from[i]) << 8 * (big ? sizeof value - 1 - i : i));
    }
    return value;
  }
};

struct WavFormat {
  uint16_t tag = 0;
  uint16_t channels = 0;
  uint32_t rate = 0;
  uint16_t frame_bytes = 0;
  uint16_t bits = 0;
};

struct WavFile {
  bool has_format = false;
  WavFormat format;
  const uint8_t* data = nullptr;
  size_t size = 0;
  bool truncated = false;
  bool has_unread_data = false;  // after the samples
};

// A format chunk of 14 bytes has no bits per sample.
WavFormat ReadFormat(const uint8_t* chunk, size_t size, ByteOrder order) {
  WavFormat format{order.Load<uint16_t>(chunk), order.Load<uint16_t>(chunk + 2),
                   order.Load<uint32_t>(chunk + 4), order.Load<uint16_t>(chunk + 12),
                   size < 16 ? uint16_t{0} : order.Load<uint16_t>(chunk + 14)};
  if (format.tag == kExtensible && size >= 26) format.tag = order.Load<uint16_t>(chunk + 24);
  return format;
}

bool LooksLikeChunk(const uint8_t* bytes, size_t size, ByteOrder order) {
  return size >= 8 && std::all_of(bytes, bytes + 4, [](uint8_t c) { return c >= 0x20 && c < 0x7F; }) &&
         order.Load<uint32_t>(bytes + 4) <= size - 8;
}

struct Chunk {
  const uint8_t* body;
  uint32_t size;      // as declared
  size_t bytes_left;  // from the body to the end of the file
};

// `rf64_size`: size of the data chunk in the ds64 chunk, or 0.
void SetData(const Chunk& chunk, uint64_t rf64_size, bool streamed, WavFile* wav) {
  const uint64_t size = chunk.size == 0xFFFFFFFF && rf64_size != 0 ? rf64_size : chunk.size;
  const bool extends_to_end = rf64_size == 0 && (chunk.size >= kUnknownSize || (chunk.size == 0 && streamed));
  wav->data = chunk.body;
  wav->size =
      static_cast<size_t>(extends_to_end ? chunk.bytes_left : std::min<uint64_t>(size, chunk.bytes_left));
  wav->truncated = !extends_to_end && size > chunk.bytes_left;
}

// Extends the samples to the end of the file where more follow.
void AddFollowing(const uint8_t* bytes, size_t size, ByteOrder order, WavFile* wav) {
  if (wav->size == 0) return;
  ChunkLayout layout = kWavLayout;
  layout.big_endian = order.big;
  const size_t begin = static_cast<size_t>(wav->data - bytes);
  const Following following = FindFollowing(bytes, size, begin + wav->size + (wav->size & 1), layout);
  wav->has_unread_data = following == Following::kOther;
  if (following == Following::kSamples) wav->size = size - begin;
}

// Parses the chunks up to the first data chunk that is not empty.
WavFile ReadChunks(const uint8_t* bytes, size_t size, ByteOrder order) {
  WavFile wav;
  uint64_t rf64_size = 0;
  const uint32_t riff = order.Load<uint32_t>(bytes + 4);
  size_t at = 12;
  while (at + 8 <= size && wav.size == 0) {
    const Chunk chunk{bytes + at + 8, order.Load<uint32_t>(bytes + at + 4), size - at - 8};
    if (std::memcmp(bytes + at, "data", 4) == 0) {
      const bool streamed =
          riff == 0 || riff >= kUnknownSize || !LooksLikeChunk(chunk.body, chunk.bytes_left, order);
      SetData(chunk, rf64_size, streamed, &wav);
    } else if (std::memcmp(bytes + at, "fmt ", 4) == 0 && chunk.size >= 14 &&
               chunk.bytes_left >= chunk.size) {
      wav.format = ReadFormat(chunk.body, chunk.size, order);
      wav.has_format = true;
    } else if (std::memcmp(bytes + at, "ds64", 4) == 0 && chunk.bytes_left >= 16) {
      rf64_size = order.Load<uint64_t>(chunk.body + 8);
    }
    if (chunk.size > chunk.bytes_left) break;
    at += 8 + size_t{chunk.size} + (chunk.size & 1);
  }
  AddFollowing(bytes, size, order, &wav);
  return wav;
}

// Samples fill whole bytes from the top: 12 bits are the upper bits of 16.
bool ToSampleFormat(const WavFormat& format, SampleFormat* sample_format, const char** codec_name) {
  const unsigned bytes = format.channels == 0 ? 0 : format.frame_bytes / format.channels;
  struct Codec {
    uint16_t tag;
    unsigned bytes;
    SampleFormat sample_format;
    const char* name;
  };
  static constexpr Codec kCodecs[] = {
      {1, 1, SampleFormat::kU8, "pcm_u8"},     {1, 2, SampleFormat::kS16, "pcm_s16le"},
      {1, 3, SampleFormat::kS24, "pcm_s24le"}, {1, 4, SampleFormat::kS32, "pcm_s32le"},
      {3, 4, SampleFormat::kF32, "pcm_f32le"}, {3, 8, SampleFormat::kF64, "pcm_f64le"},
      {6, 1, SampleFormat::kALaw, "pcm_alaw"}, {7, 1, SampleFormat::kMuLaw, "pcm_mulaw"}};
  for (const Codec& codec : kCodecs) {
    if (codec.tag != format.tag || codec.bytes != bytes || format.bits > 8 * bytes) continue;
    *sample_format = codec.sample_format;
    *codec_name = codec.name;
    return true;
  }
  return false;
}

// Reverses the bytes of each sample.
void SwapBytes(const uint8_t* from, size_t count, size_t sample_bytes, std::vector<uint8_t>* to) {
  to->resize(count);
  for (size_t at = 0; at + sample_bytes <= count; at += sample_bytes)
    std::reverse_copy(from + at, from + at + sample_bytes, to->data() + at);
}

// Writes one block of frames per step.
class WavReader : public AudioReader {
 public:
  WavReader(const WavFile& wav, SampleFormat sample_format, const char* codec, ByteOrder order, Sink* sink)
      : wav_(wav),
        sample_format_(sample_format),
        codec_(codec),
        swap_(order.big && BytesPerSample(sample_format) > 1),
        frames_left_(wav.size / wav.format.frame_bytes),
        sink_(sink) {
    if (swap_) codec_.replace(codec_.size() - 2, 2, "be");
  }

  bool Step() override {
    if (frames_left_ == 0) return false;
    const size_t stride = wav_.format.frame_bytes;
    const size_t sample_bytes = BytesPerSample(sample_format_);
    const size_t count = std::min(frames_left_, Sink::kBlock);
    if (swap_) SwapBytes(wav_.data, count * stride, sample_bytes, &swapped_);
    const uint8_t* frame = swap_ ? swapped_.data() : wav_.data;
    for (int channel = 0; channel < wav_.format.channels; ++channel) {
      ConvertToFloat(sample_format_, frame + static_cast<size_t>(channel) * sample_bytes, stride, count,
                     sink_->scratch()[channel]);
    }
    sink_->Write(sink_->scratch(), count);
    wav_.data += count * stride;
    frames_left_ -= count;
    return true;
  }

  ReadStatus status() const override { return {0, wav_.truncated, wav_.has_unread_data}; }
  std::string codec() const override { return codec_; }

 private:
  WavFile wav_;  // `data` is at the next frame
  SampleFormat sample_format_;
  std::string codec_;
  bool swap_;
  size_t frames_left_;
  std::vector<uint8_t> swapped_;
  Sink* sink_;
};

}  // namespace

std::unique_ptr<AudioReader> OpenWav(const uint8_t* bytes, size_t size, Sink* sink) {
  const ByteOrder order{std::memcmp(bytes, "RIFX", 4) == 0};
  const WavFile wav = ReadChunks(bytes, size, order);
  if (!wav.has_format) throw Error(ErrorCode::kMalformed, "Expected a WAV format chunk, got none");
  SelectTrack({true}, {sink->track()});
  SampleFormat sample_format{};
  const char* codec = nullptr;
  sink->CheckChannels(wav.format.channels);
  sink->CheckRate(static_cast<int>(std::min<uint32_t>(wav.format.rate, 0x7FFFFFFF)));
  if (!ToSampleFormat(wav.format, &sample_format, &codec)) return nullptr;
  const size_t frames = wav.size / wav.format.frame_bytes;
  if (frames == 0) throw Error(ErrorCode::kEmpty, "Expected samples in the wav file, got none");
  const double seconds = static_cast<double>(frames) / wav.format.rate;
  sink->CheckSeconds(seconds);
  sink->ReserveDuration(seconds);
  sink->SetFormat(static_cast<int>(wav.format.rate), wav.format.channels, FullScale(sample_format));
  return std::make_unique<WavReader>(wav, sample_format, codec, order, sink);
}

}  // namespace undertone
