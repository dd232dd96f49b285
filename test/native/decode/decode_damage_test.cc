#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "decode/decode.h"
#include "support/audio_files.h"

namespace undertone {
namespace {

using namespace test;

// A small generator, so that the same damage comes with every run.
class Dice {
 public:
  explicit Dice(uint32_t seed) : state_(seed * 2654435761U + 1) {}
  uint32_t Below(size_t limit) {
    state_ = state_ * 1664525U + 1013904223U;
    return static_cast<uint32_t>((uint64_t{state_ >> 4} * limit) >> 28);
  }

 private:
  uint32_t state_;
};

// Damages up to 8 places, half of the time in the first 400 bytes, and sometimes cuts the end off.
Bytes Mutate(Bytes bytes, uint32_t seed) {
  Dice dice(seed);
  const uint32_t places = 1 + dice.Below(8);
  for (uint32_t i = 0; i < places; ++i) {
    const size_t reach = dice.Below(2) == 0 ? std::min<size_t>(bytes.size(), 400) : bytes.size();
    const size_t at = dice.Below(reach);
    static constexpr uint8_t kExtremes[] = {0, 1, 0x7F, 0x80, 0xFE, 0xFF};
    const uint8_t value =
        dice.Below(2) == 0 ? kExtremes[dice.Below(6)] : static_cast<uint8_t>(dice.Below(256));
    const size_t run = dice.Below(4) == 0 ? 4 : 1;
    for (size_t k = at; k < std::min(at + run, bytes.size()); ++k) bytes[k] = value;
  }
  if (dice.Below(8) == 0) bytes.resize(1 + dice.Below(bytes.size()));
  return bytes;
}

// UNDERTONE_MUTATIONS sets how many per recording; files are cut to 24 kB so that many fit into a minute.
TEST_CASE("damaged recordings are decoded or refused, never worse") {
  const char* asked = std::getenv("UNDERTONE_MUTATIONS");
  const int count = asked == nullptr ? 20 : std::atoi(asked);
  for (const std::string& name : FixtureNames()) {
    CAPTURE(name);
    Bytes file = Fixture(name);
    const bool whole = name.find("m4a") != std::string::npos || name.find("mov") != std::string::npos;
    if (!whole) file.resize(std::min<size_t>(file.size(), 24000));
    for (int seed = 0; seed < (whole ? count / 5 : count); ++seed) {
      CAPTURE(seed);
      const Bytes damaged = Mutate(file, static_cast<uint32_t>(seed));
      try {
        const Audio audio = Decode(damaged.data(), damaged.size(), Limits());
        bool finite =
            std::isfinite(audio.source.clipped_ratio) && std::isfinite(audio.source.channel_correlation);
        for (const float sample : audio.samples) finite = finite && std::isfinite(sample);
        CHECK(finite);
      } catch (const Error& error) {
        CHECK(error.code != ErrorCode::kInternal);
        CHECK(error.code != ErrorCode::kDeadline);
      }
    }
  }
}

}  // namespace
}  // namespace undertone
