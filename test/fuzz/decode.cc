#include "decode/decode.h"

#include <cmath>
#include <functional>
#include <string>

#include "input.h"
#include "targets.h"

namespace undertone::fuzz {
namespace {

// Ten seconds: some kilobytes of frames can be minutes, and a run is to be short.
constexpr double kMaxSeconds = 10;

// Those of the service, but for the length and no deadline: see main.cc.
DecodeOptions Limits() { return {16000, -1, kMaxSeconds, 8, 4000, 384000, 0, nullptr}; }

size_t Bits(size_t count) { return count == 0 ? 0 : 1 + Bits(count / 2); }

#ifdef UNDERTONE_PLANTED_FAULT
// Assumes at most two channels.
size_t PlantedFault(const Audio& audio) {
  static constexpr size_t kPairs[] = {0, 0, 1};
  const size_t* pairs = kPairs;
  return pairs[audio.source.channels];
}
#else
size_t PlantedFault(const Audio&) { return 0; }
#endif

size_t Outcome(const Audio& audio) {
  const Source& source = audio.source;
  const size_t kind = std::hash<std::string>()(source.container + source.codec);
  const auto rate = static_cast<size_t>(source.sample_rate);
  size_t outcome = kind + PlantedFault(audio);
  for (const size_t part : {Bits(rate), static_cast<size_t>(source.channels), Bits(audio.samples.size()),
                            size_t{source.truncated}, size_t{source.clipped_ratio > 0}}) {
    outcome = outcome * 31 + part;
  }
  return outcome;
}

void CheckAudio(const Audio& audio) {
  const Source& source = audio.source;
  Expect(!audio.samples.empty(), "no samples and no error");
  Expect(AllFinite(audio.samples), "a sample that is not finite");
  Expect(audio.samples.size() <= (kMaxSeconds + 1) * 16000, "more samples than the limit");
  Expect(source.clipped_ratio >= 0 && source.clipped_ratio <= 1, "a ratio outside 0 to 1");
  Expect(std::fabs(source.channel_correlation) <= 1, "a correlation outside -1 to 1");
  Expect(!source.container.empty() && !source.codec.empty(), "a source without a name");
  Expect(source.channels >= 1 && source.channels <= 8, "channels outside the limits");
  Expect(source.sample_rate >= 4000 && source.sample_rate <= 384000, "a rate outside the limits");
}

}  // namespace

size_t Decode(const uint8_t* bytes, size_t size) {
  try {
    const Audio audio = undertone::Decode(bytes, size, Limits());
    CheckAudio(audio);
    return Outcome(audio);
  } catch (const Error& error) {
    Expect(error.code != ErrorCode::kInternal, "an error of our own");
    Expect(error.code != ErrorCode::kBadArgument, "a file taken for a wrong argument");
    return static_cast<size_t>(error.code);
  }
}

}  // namespace undertone::fuzz
