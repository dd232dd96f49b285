#include "decode/pcm_convert.h"

#include <array>
#include <cstring>
#include <iterator>
#include <limits>

namespace undertone {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "samples are read without swapping bytes");

// ITU-T G.711, 16-bit values.
constexpr int ALaw(int code) {
  code ^= 0x55;
  const int exponent = code >> 4 & 7;
  const int mantissa = (code & 15) << 4;
  const int level = exponent == 0 ? mantissa + 8 : (mantissa + 0x108) << (exponent - 1);
  return (code & 0x80) != 0 ? level : -level;
}

constexpr int MuLaw(int code) {
  code = ~code & 0xFF;
  const int level = ((((code & 15) << 3) + 0x84) << (code >> 4 & 7)) - 0x84;
  return (code & 0x80) != 0 ? -level : level;
}

template <int (*Law)(int)>
constexpr std::array<float, 256> Table() {
  std::array<float, 256> table{};
  for (int code = 0; code < 256; ++code)
    table[static_cast<size_t>(code)] = static_cast<float>(Law(code)) / 32768.0F;
  return table;
}

constexpr std::array<float, 256> kALawTable = Table<ALaw>();
constexpr std::array<float, 256> kMuLawTable = Table<MuLaw>();

template <typename T>
T Load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Two's complement.
template <typename T>
float FromInteger(const uint8_t* from) {
  return static_cast<float>(Load<T>(from)) / (static_cast<float>(std::numeric_limits<T>::max() / 2 + 1) * 2);
}

float FromS24(const uint8_t* from) {
  const uint32_t bits = uint32_t{from[0]} << 8 | uint32_t{from[1]} << 16 | uint32_t{from[2]} << 24;
  return static_cast<float>(static_cast<int32_t>(bits)) * 0x1p-31F;
}

// The compiler vectorizes the constant strides of mono and stereo.
template <size_t Bytes, typename Read>
void ConvertEach(const uint8_t* from, size_t stride, size_t count, float* to, Read read) {
  if (stride == Bytes) {
    for (size_t i = 0; i < count; ++i) to[i] = read(from + i * Bytes);
  } else if (stride == 2 * Bytes) {
    for (size_t i = 0; i < count; ++i) to[i] = read(from + i * 2 * Bytes);
  } else {
    for (size_t i = 0; i < count; ++i) to[i] = read(from + i * stride);
  }
}

}  // namespace

size_t BytesPerSample(SampleFormat format) {
  static constexpr size_t kBytes[] = {1, 2, 3, 4, 8, 4, 8, 1, 1};
  static_assert(std::size(kBytes) == static_cast<size_t>(SampleFormat::kMuLaw) + 1);
  return kBytes[static_cast<size_t>(format)];
}

float FullScale(SampleFormat format) {
  switch (format) {
    case SampleFormat::kU8:
      return 127.0F / 128.0F;
    case SampleFormat::kALaw:
      return 32256.0F / 32768.0F;
    case SampleFormat::kMuLaw:
      return 32124.0F / 32768.0F;
    default:
      return 1;
  }
}

void ConvertToFloat(SampleFormat format, const uint8_t* from, size_t stride, size_t count, float* to) {
  switch (format) {
    case SampleFormat::kU8:
      ConvertEach<1>(from, stride, count, to,
                     [](const uint8_t* p) { return static_cast<float>(*p - 128) * 0x1p-7F; });
      break;
    case SampleFormat::kS16:
      ConvertEach<2>(from, stride, count, to, FromInteger<int16_t>);
      break;
    case SampleFormat::kS24:
      ConvertEach<3>(from, stride, count, to, FromS24);
      break;
    case SampleFormat::kS32:
      ConvertEach<4>(from, stride, count, to, FromInteger<int32_t>);
      break;
    case SampleFormat::kS64:
      ConvertEach<8>(from, stride, count, to, FromInteger<int64_t>);
      break;
    case SampleFormat::kF32:
      ConvertEach<4>(from, stride, count, to, Load<float>);
      break;
    case SampleFormat::kF64:
      ConvertEach<8>(from, stride, count, to,
                     [](const uint8_t* p) { return static_cast<float>(Load<double>(p)); });
      break;
    case SampleFormat::kALaw:
      ConvertEach<1>(from, stride, count, to, [](const uint8_t* p) { return kALawTable[*p]; });
      break;
    case SampleFormat::kMuLaw:
      ConvertEach<1>(from, stride, count, to, [](const uint8_t* p) { return kMuLawTable[*p]; });
      break;
  }
}

}  // namespace undertone
