#include "decode/pcm_convert.h"

#include <array>
#include <cstring>
#include <limits>

namespace undertone {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "samples are read as they lie");

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

// Two's complement, the top bit's place 1.
template <typename T>
float FromInteger(const uint8_t* from) {
  return static_cast<float>(Load<T>(from)) / (static_cast<float>(std::numeric_limits<T>::max() / 2 + 1) * 2);
}

float FromS24(const uint8_t* from) {
  const uint32_t bits = uint32_t{from[0]} << 8 | uint32_t{from[1]} << 16 | uint32_t{from[2]} << 24;
  return static_cast<float>(static_cast<int32_t>(bits)) * 0x1p-31F;
}

// `Bytes` apart when the samples touch: then the compiler may use vectors.
template <size_t Bytes, typename Read>
void Each(const uint8_t* from, size_t stride, size_t count, float* to, Read read) {
  if (stride == Bytes) {
    for (size_t i = 0; i < count; ++i) to[i] = read(from + i * Bytes);
  } else if (stride == 2 * Bytes) {
    for (size_t i = 0; i < count; ++i) to[i] = read(from + i * 2 * Bytes);
  } else {
    for (size_t i = 0; i < count; ++i) to[i] = read(from + i * stride);
  }
}

}  // namespace

size_t SampleBytes(Encoding encoding) {
  switch (encoding) {
    case Encoding::kU8:
    case Encoding::kALaw:
    case Encoding::kMuLaw:
      return 1;
    case Encoding::kS16:
      return 2;
    case Encoding::kS24:
      return 3;
    case Encoding::kS32:
    case Encoding::kF32:
      return 4;
    case Encoding::kS64:
    case Encoding::kF64:
      return 8;
  }
  return 0;
}

float FullScale(Encoding encoding) {
  switch (encoding) {
    case Encoding::kU8:
      return 127.0F / 128.0F;
    case Encoding::kALaw:
      return 32256.0F / 32768.0F;
    case Encoding::kMuLaw:
      return 32124.0F / 32768.0F;
    default:
      return 1;
  }
}

void ToFloat(Encoding encoding, const uint8_t* from, size_t stride, size_t count, float* to) {
  switch (encoding) {
    case Encoding::kU8:
      Each<1>(from, stride, count, to,
              [](const uint8_t* p) { return static_cast<float>(*p - 128) * 0x1p-7F; });
      break;
    case Encoding::kS16:
      Each<2>(from, stride, count, to, FromInteger<int16_t>);
      break;
    case Encoding::kS24:
      Each<3>(from, stride, count, to, FromS24);
      break;
    case Encoding::kS32:
      Each<4>(from, stride, count, to, FromInteger<int32_t>);
      break;
    case Encoding::kS64:
      Each<8>(from, stride, count, to, FromInteger<int64_t>);
      break;
    case Encoding::kF32:
      Each<4>(from, stride, count, to, Load<float>);
      break;
    case Encoding::kF64:
      Each<8>(from, stride, count, to, [](const uint8_t* p) { return static_cast<float>(Load<double>(p)); });
      break;
    case Encoding::kALaw:
      Each<1>(from, stride, count, to, [](const uint8_t* p) { return kALawTable[*p]; });
      break;
    case Encoding::kMuLaw:
      Each<1>(from, stride, count, to, [](const uint8_t* p) { return kMuLawTable[*p]; });
      break;
  }
}

}  // namespace undertone
