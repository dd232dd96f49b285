#include "decode/wav_decoder.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "decode/pcm_convert.h"

namespace undertone {
namespace {

constexpr uint32_t kStreamed = 0x7FFFF000;  // sizes from here on are written by those who cannot seek back
constexpr uint16_t kExtensible = 0xFFFE;

// RIFX is RIFF with every number and sample the other way round.
struct Order {
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

struct Format {
  uint16_t tag = 0;
  uint16_t channels = 0;
  uint32_t rate = 0;
  uint16_t frame_bytes = 0;
  uint16_t bits = 0;
};

struct Wave {
  bool has_format = false;
  Format format;
  const uint8_t* data = nullptr;
  size_t size = 0;
  bool truncated = false;
};

// The oldest files end before the bits of a sample: then they are those of its bytes.
Format ReadFormat(const uint8_t* chunk, size_t size, Order order) {
  Format format{order.Load<uint16_t>(chunk), order.Load<uint16_t>(chunk + 2), order.Load<uint32_t>(chunk + 4),
                order.Load<uint16_t>(chunk + 12), size < 16 ? uint16_t{0} : order.Load<uint16_t>(chunk + 14)};
  if (format.tag == kExtensible && size >= 26) format.tag = order.Load<uint16_t>(chunk + 24);
  return format;
}

bool LooksLikeChunk(const uint8_t* bytes, size_t size, Order order) {
  return size >= 8 && std::all_of(bytes, bytes + 4, [](uint8_t c) { return c >= 0x20 && c < 0x7F; }) &&
         order.Load<uint32_t>(bytes + 4) <= size - 8;
}

// `claimed` is the data chunk's size, `wide` RF64's or 0, `room` what the file holds from there on.
void TakeData(const uint8_t* data, size_t room, uint32_t claimed, uint64_t wide, bool streamed, Wave* wave) {
  const uint64_t size = claimed == 0xFFFFFFFF && wide != 0 ? wide : claimed;
  const bool to_end = wide == 0 && (claimed >= kStreamed || (claimed == 0 && streamed));
  wave->data = data;
  wave->size = to_end ? room : static_cast<size_t>(std::min<uint64_t>(size, room));
  wave->truncated = !to_end && size > room;
}

// Walks the chunks up to the first data chunk that holds something.
Wave ReadChunks(const uint8_t* bytes, size_t size, Order order) {
  Wave wave;
  uint64_t wide = 0;
  const uint32_t riff = order.Load<uint32_t>(bytes + 4);
  size_t at = 12;
  while (at + 8 <= size && wave.size == 0) {
    const uint8_t* body = bytes + at + 8;
    const size_t room = size - at - 8;
    const uint32_t claimed = order.Load<uint32_t>(bytes + at + 4);
    if (std::memcmp(bytes + at, "data", 4) == 0) {
      const bool streamed = riff == 0 || riff >= kStreamed || !LooksLikeChunk(body, room, order);
      TakeData(body, room, claimed, wide, streamed, &wave);
    } else if (std::memcmp(bytes + at, "fmt ", 4) == 0 && claimed >= 14 && room >= claimed) {
      wave.format = ReadFormat(body, claimed, order);
      wave.has_format = true;
    } else if (std::memcmp(bytes + at, "ds64", 4) == 0 && room >= 16) {
      wide = order.Load<uint64_t>(body + 8);
    }
    if (claimed > room) break;
    at += 8 + size_t{claimed} + (claimed & 1);
  }
  return wave;
}

// The sample's place is whole bytes, padding below it: 12 bits lie in the upper part of 16.
bool ToEncoding(const Format& format, Encoding* encoding, const char** codec) {
  const unsigned bytes = format.channels == 0 ? 0 : format.frame_bytes / format.channels;
  struct Row {
    uint16_t tag;
    unsigned bytes;
    Encoding encoding;
    const char* codec;
  };
  static constexpr Row kRows[] = {{1, 1, Encoding::kU8, "pcm_u8"},     {1, 2, Encoding::kS16, "pcm_s16le"},
                                  {1, 3, Encoding::kS24, "pcm_s24le"}, {1, 4, Encoding::kS32, "pcm_s32le"},
                                  {3, 4, Encoding::kF32, "pcm_f32le"}, {3, 8, Encoding::kF64, "pcm_f64le"},
                                  {6, 1, Encoding::kALaw, "pcm_alaw"}, {7, 1, Encoding::kMuLaw, "pcm_mulaw"}};
  for (const Row& row : kRows) {
    if (row.tag != format.tag || row.bytes != bytes || format.bits > 8 * bytes) continue;
    *encoding = row.encoding;
    *codec = row.codec;
    return true;
  }
  return false;
}

// Reverses the bytes of each sample.
void Swap(const uint8_t* from, size_t count, size_t step, std::vector<uint8_t>* to) {
  to->resize(count);
  for (size_t at = 0; at + step <= count; at += step)
    std::reverse_copy(from + at, from + at + step, to->data() + at);
}

// One block of frames at each step.
class WavDecoder : public Decoder {
 public:
  WavDecoder(const Wave& wave, Encoding encoding, const char* codec, Order order, Sink* sink)
      : wave_(wave),
        encoding_(encoding),
        codec_(codec),
        swap_(order.big && SampleBytes(encoding) > 1),
        left_(wave.size / wave.format.frame_bytes),
        sink_(sink) {
    if (swap_) codec_.replace(codec_.size() - 2, 2, "be");
  }

  bool Step() override {
    if (left_ == 0) return false;
    const size_t stride = wave_.format.frame_bytes;
    const size_t step = SampleBytes(encoding_);
    const size_t count = std::min(left_, Sink::kBlock);
    if (swap_) Swap(wave_.data, count * stride, step, &swapped_);
    const uint8_t* frame = swap_ ? swapped_.data() : wave_.data;
    for (int channel = 0; channel < wave_.format.channels; ++channel) {
      ToFloat(encoding_, frame + static_cast<size_t>(channel) * step, stride, count,
              sink_->scratch()[channel]);
    }
    sink_->Write(sink_->scratch(), count);
    wave_.data += count * stride;
    left_ -= count;
    return true;
  }

  DecodeResult result() const override { return {0, wave_.truncated}; }
  std::string codec() const override { return codec_; }

 private:
  Wave wave_;  // its data from the next frame on
  Encoding encoding_;
  std::string codec_;
  bool swap_;
  size_t left_;  // frames
  std::vector<uint8_t> swapped_;
  Sink* sink_;
};

}  // namespace

std::unique_ptr<Decoder> OpenWav(const uint8_t* bytes, size_t size, Sink* sink) {
  const Order order{std::memcmp(bytes, "RIFX", 4) == 0};
  const Wave wave = ReadChunks(bytes, size, order);
  if (!wave.has_format) throw Error(ErrorCode::kMalformed, "Expected a WAV format chunk, got none");
  Encoding encoding{};
  const char* codec = nullptr;
  sink->CheckChannels(wave.format.channels);
  sink->CheckRate(static_cast<int>(std::min<uint32_t>(wave.format.rate, 0x7FFFFFFF)));
  if (!ToEncoding(wave.format, &encoding, &codec)) return nullptr;
  const size_t frames = wave.size / wave.format.frame_bytes;
  if (frames == 0) throw Error(ErrorCode::kEmpty, "Expected samples in the wav file, got none");
  const double seconds = static_cast<double>(frames) / wave.format.rate;
  sink->CheckSeconds(seconds);
  sink->ReserveDuration(seconds);
  sink->SetFormat(static_cast<int>(wave.format.rate), wave.format.channels, FullScale(encoding));
  return std::make_unique<WavDecoder>(wave, encoding, codec, order, sink);
}

}  // namespace undertone
