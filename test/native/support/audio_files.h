#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decode/decode.h"
#include "support/signal.h"

namespace undertone::test {

using Bytes = std::vector<uint8_t>;

// Everything that the product allows by default.
DecodeOptions Limits();

// A recording that scripts/recordings.sh makes; the folder is made when it is absent or older.
Bytes Fixture(const std::string& name);
const std::vector<std::string>& FixtureNames();

// A file that the fuzzers start from: FAMILY/NAME.
Bytes Corpus(const std::string& name);

Bytes Join(const std::vector<Bytes>& parts);
Bytes FromText(const std::string& text);

// A WAV with a valid header around interleaved samples.
Bytes WavOf(uint16_t tag, uint16_t bits, uint32_t rate, uint16_t channels, const Bytes& data);
Bytes Wav16(uint32_t rate, uint16_t channels, const std::vector<float>& samples);
Bytes WavFloat(uint32_t rate, uint16_t channels, const std::vector<float>& samples);

// Where the text first stands, or the end.
Bytes::iterator Find(Bytes* bytes, const std::string& text);

// Overwrites 4 bytes, little-endian.
void Put32(Bytes* bytes, size_t at, uint32_t value);

// Power in dB of what is left of `samples` when its best fitting sine of this frequency is taken out, and of
// the sine.
struct SineFit {
  double sine_db;
  double rest_db;
};
SineFit FitSine(const float* samples, size_t count, double hertz, double rate);

// The message of the Error that decoding throws, its code's name in front: "empty: Expected ..."; "" for
// none.
std::string ErrorOf(const Bytes& bytes, const DecodeOptions& options);
inline std::string ErrorOf(const Bytes& bytes) { return ErrorOf(bytes, Limits()); }

}  // namespace undertone::test
