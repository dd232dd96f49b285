#include "decode/decode_budget.h"

#include <doctest/doctest.h>

#include <new>

#include "decode/decode.h"
#include "support/audio_files.h"
#include "support/faults.h"

namespace undertone {
namespace {

using namespace test;

constexpr const char* kTooComplex =
    "too_complex: Decoding needs too much CPU time for the size and duration of the audio";

// What decoding answers when the clocks jump at the n-th reading.
std::string ErrorAt(int reading, const Bytes& bytes) {
  AdvanceClocks(reading);
  DecodeOptions options = Limits();
  options.deadline_seconds = 0;
  return ErrorOf(bytes, options);
}

TEST_CASE("an exhausted CPU budget has its own code, wherever it runs out") {
  const Bytes link = Corpus("ogg/vorbis.ogg");
  for (const Bytes& bytes : {Join({link, link}), Corpus("mp3/mpeg1.mp3"), Corpus("wav/s16.wav")}) {
    CAPTURE(bytes.size());
    int reading = 3;  // the first two start the clocks
    for (;; ++reading) {
      CAPTURE(reading);
      const std::string refusal = ErrorAt(reading, bytes);
      if (!ClocksAdvanced()) break;
      REQUIRE(refusal == kTooComplex);
    }
    CHECK(reading > 3);
    CHECK(ErrorAt(0, bytes).empty());
  }
}

TEST_CASE("time between chunks does not count") {
  const Bytes flac = Fixture("speech.flac");
  IncrementalDecoder decoder(flac.data(), flac.size(), Limits(), 16000);
  CHECK(decoder.Next().size() == 16000);
  AdvanceClocks(1);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  REQUIRE(ClocksAdvanced());
  CHECK(decoder.Next().size() == 16000);
  AdvanceClocks(0);
}

TEST_CASE("without memory for the allow-lists nothing is opened") {
  const Bytes flac = Fixture("speech.flac");
  for (int call = 1; call <= 3; ++call) {
    CAPTURE(call);
    FailStringCopy(call);
    CHECK_THROWS_AS(Decode(flac.data(), flac.size(), Limits()), std::bad_alloc);
  }
  FailStringCopy(0);
  CHECK(ErrorOf(flac).empty());
}

}  // namespace
}  // namespace undertone
