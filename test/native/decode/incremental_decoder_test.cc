#include "decode/decode.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "support/audio_files.h"
#include "support/mp4_files.h"

namespace undertone {
namespace {

using namespace test;

constexpr size_t kSecond = 16000;

size_t CountThreads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

// Bytes of memory that the process holds.
double Resident() {
  double total = 0;
  double resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

TEST_CASE("chunks are decoded on the calling thread") {
  const Bytes mp3 = Fixture("cbr.mp3");
  const size_t before = CountThreads();
  IncrementalDecoder decoder(mp3.data(), mp3.size(), Limits(), kSecond);
  CHECK(decoder.Next().size() == kSecond);
  CHECK(CountThreads() == before);
}

TEST_CASE("chunks of any length are the whole") {
  for (const char* name : {"vbr.mp3", "opus.ogg", "speech.wav", "speech.3gp"}) {
    CAPTURE(name);
    const Bytes file = Fixture(name);
    const Audio whole = Decode(file.data(), file.size(), Limits());
    for (const size_t length : {size_t{1000}, 3 * kSecond, 100 * kSecond}) {
      CAPTURE(length);
      IncrementalDecoder decoder(file.data(), file.size(), Limits(), length);
      std::vector<float> joined;
      for (std::vector<float> chunk = decoder.Next(); !chunk.empty(); chunk = decoder.Next()) {
        CHECK((chunk.size() == length || joined.size() + chunk.size() == whole.samples.size()));
        joined.insert(joined.end(), chunk.begin(), chunk.end());
      }
      CHECK(joined == whole.samples);
      CHECK(decoder.source().truncated == whole.source.truncated);
      CHECK(decoder.Next().empty());
    }
  }
}

TEST_CASE("whole chunks come before the error that ends them, and the error stays") {
  const Bytes link = Fixture("vorbis.ogg");
  const Bytes chain = Join({link, link, link, link});
  DecodeOptions options = Limits();
  options.max_seconds = 30;
  IncrementalDecoder decoder(chain.data(), chain.size(), options, 10 * kSecond);
  CHECK(decoder.Next().size() == 10 * kSecond);
  CHECK(decoder.Next().size() == 10 * kSecond);
  for (int call = 0; call < 2; ++call) {
    CHECK_THROWS_WITH_AS(decoder.Next(), "Expected at most 30 s of audio, got more", Error);
  }
}

// The second link has another rate: the same step ends the first one's samples and exceeds the limit.
TEST_CASE("chunks of the step that fails come before its error") {
  const Bytes first = Fixture("vorbis.ogg");
  const Bytes chain = Join({first, Corpus("ogg/vorbis.ogg")});
  const Audio alone = Decode(first.data(), first.size(), Limits());
  DecodeOptions options = Limits();
  options.max_seconds = static_cast<double>(alone.samples.size()) / kSecond + 0.001;
  IncrementalDecoder decoder(chain.data(), chain.size(), options, 100);
  std::vector<float> joined;
  const auto read_all = [&] {
    for (;;) {
      const std::vector<float> chunk = decoder.Next();
      joined.insert(joined.end(), chunk.begin(), chunk.end());
    }
  };
  CHECK_THROWS_AS(read_all(), Error);
  CHECK(joined.size() == alone.samples.size() / 100 * 100);
  CHECK(std::equal(joined.begin(), joined.end(), alone.samples.begin()));
}

// A packet of comfort noise, each byte a frame of 20 ms: five hours, which take 1.3 GB at once.
TEST_CASE("the memory of a chunk does not grow with the packet that it comes from") {
  constexpr uint32_t kFrames = 1'000'000;
  const Bytes file = Mp4(Bytes(kFrames, 0x7C), {SoundTrack("samr", 1, kFrames, 1)});
  DecodeOptions options = Limits();
  options.max_seconds = 43200;
  const double before = Resident();
  IncrementalDecoder decoder(file.data(), file.size(), options, kSecond);
  CHECK(decoder.Next().size() == kSecond);
  CHECK(Resident() - before < 64e6);
}

}  // namespace
}  // namespace undertone
