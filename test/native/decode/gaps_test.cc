#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "decode/decode.h"
#include "decode/timeline.h"
#include "support/audio_files.h"

namespace undertone {
namespace {

using namespace test;

Audio DecodeAll(const Bytes& bytes, const DecodeOptions& options = Limits()) {
  return Decode(bytes.data(), bytes.size(), options);
}

double PowerOf(const Audio& audio, double from, double to) {
  double sum = 0;
  for (auto i = static_cast<size_t>(from * 16000); i < static_cast<size_t>(to * 16000); ++i)
    sum += audio.samples[i] * audio.samples[i];
  return sum / ((to - from) * 16000);
}

constexpr double kPacket = 0.02;

// Seconds that are missing before frames of 20 ms with these timestamps.
double Missing(const std::vector<double>& timestamps) {
  Timeline timeline;
  double missing = 0;
  for (const double timestamp : timestamps) missing += timeline.MissingBefore(timestamp, kPacket);
  return missing;
}

std::vector<double> Timestamps(size_t count, double (*at)(size_t)) {
  std::vector<double> timestamps(count);
  for (size_t i = 0; i < count; ++i) timestamps[i] = at(i);
  return timestamps;
}

TEST_CASE("rounded, jittering and drifting timestamps have no gaps") {
  const auto rounded = [](size_t i) { return std::round(static_cast<double>(i) * 23.22) / 1000; };
  Timeline aac;
  double missing = 0;
  for (size_t i = 0; i < 10000; ++i) missing += aac.MissingBefore(rounded(i), 0.02322);
  CHECK(missing == 0);
  CHECK(Missing(Timestamps(10000, [](size_t i) {
          return static_cast<double>(i) * kPacket + static_cast<double>(i * 7919 % 90) / 1000;
        })) == 0);
  CHECK(Missing(Timestamps(10000, [](size_t i) { return static_cast<double>(i) * kPacket * 1.001; })) == 0);
  CHECK(Missing(Timestamps(10000, [](size_t i) { return static_cast<double>(i) * kPacket * 0.999; })) == 0);
}

TEST_CASE("a gap is found however the stream begins, and single lost packets add up") {
  CHECK(Missing({3600, 3600.02, 3601.04}) == doctest::Approx(1));
  CHECK(Missing({-0.007, 0.013, 0.533}) == doctest::Approx(0.5));
  std::vector<double> lossy;
  for (int i = 0; i < 1000; ++i)
    if (i % 10 != 9) lossy.push_back(i * kPacket);
  CHECK(Missing(lossy) == doctest::Approx(2).epsilon(0.06));
}

TEST_CASE("timestamps that begin anew are no gap, and the next gap counts whole") {
  CHECK(Missing({0, 0.02, 0.04, 0, 0.02, 0.04}) == 0);
  CHECK(Missing({100, 100.02, 0, 0.02, 1.04}) == doctest::Approx(1));
}

const char* const kGaps[] = {"gap.webm", "gap.mkv", "gap.ogg", "gap.mp4"};

TEST_CASE("silence stands for packets that were not sent, and what follows keeps its time") {
  const Audio original = DecodeAll(Fixture("opus.webm"));
  for (const char* name : kGaps) {
    CAPTURE(name);
    const Audio audio = DecodeAll(Fixture(name));
    CHECK(std::abs(static_cast<double>(audio.samples.size()) - static_cast<double>(original.samples.size())) < 320);
    CHECK_FALSE(audio.source.truncated);
    REQUIRE(audio.gaps.size() == 1);
    CHECK(audio.gaps[0].start == doctest::Approx(1).epsilon(0.5));
    CHECK(audio.gaps[0].end - audio.gaps[0].start == doctest::Approx(1).epsilon(0.01));
    CHECK(PowerOf(audio, audio.gaps[0].start + 0.01, audio.gaps[0].end - 0.01) < 1e-15);
    for (double at = 3; at < 4; at += 0.1)
      CHECK(PowerOf(audio, at, at + 0.1) == doctest::Approx(PowerOf(original, at, at + 0.1)).epsilon(0.2));
  }
  CHECK(DecodeAll(Fixture("opus.ogg")).gaps.empty());
}

TEST_CASE("blocks of a recording with a gap are its samples, of each channel too") {
  for (const char* name : kGaps) {
    const Bytes bytes = Fixture(name);
    const Audio whole = DecodeAll(bytes);
    for (const int channel : {-1, kEachOfTwoChannels}) {
      DecodeOptions options = Limits();
      options.channel = channel;
      IncrementalDecoder decoder(bytes.data(), bytes.size(), options, 4000);
      std::vector<float> samples;
      std::vector<Gap> gaps;
      while (!decoder.ended()) {
        const std::vector<float> block = decoder.Next();
        CHECK(block.size() <= 8000);
        samples.insert(samples.end(), block.begin(), block.end());
        for (const Gap& gap : decoder.NextGaps()) gaps.push_back(gap);
      }
      REQUIRE(gaps.size() == 1);
      CHECK(gaps[0].start == whole.gaps[0].start);
      if (channel == -1) CHECK(samples == whole.samples);
      if (channel != -1) CHECK(samples.size() == 2 * whole.samples.size());
    }
  }
}

// The timestamp of a cluster, which has two bytes from 256 ms on.
void SetClusterTime(Bytes* webm, uint64_t milliseconds) {
  const Bytes id = {0x1F, 0x43, 0xB6, 0x75};
  const auto cluster = std::find_end(webm->begin(), webm->end(), id.begin(), id.end());
  const auto timestamp = std::find(cluster, webm->end(), 0xE7);
  REQUIRE(timestamp[1] == 0x82);
  timestamp[2] = static_cast<uint8_t>(milliseconds >> 8);
  timestamp[3] = static_cast<uint8_t>(milliseconds);
}

TEST_CASE("a gap counts against the limit of the duration before it takes memory") {
  Bytes webm = Fixture("opus.webm");
  SetClusterTime(&webm, 65'000);
  DecodeOptions options = Limits();
  CHECK(DecodeAll(webm, options).gaps.size() == 1);
  options.max_seconds = 60;
  CHECK(ErrorOf(webm, options).find("too_long") == 0);
}

TEST_CASE("times count from the start of the picture") {
  const size_t count = DecodeAll(Fixture("aac.m4a")).samples.size();
  for (const char* name : {"late.mp4", "late.mkv", "late-fragments.mp4", "late-first-packet.mp4"}) {
    CAPTURE(name);
    const Audio audio = DecodeAll(Fixture(name));
    CHECK(std::abs(static_cast<double>(audio.samples.size()) - static_cast<double>(count) - 24000) < 1600);
    CHECK(PowerOf(audio, 0, 1.4) < 1e-12);
    CHECK(audio.gaps.empty());
  }
  CHECK(PowerOf(DecodeAll(Fixture("video.mp4")), 0, 1) > 0);
}

// Adds 2^32 ticks to the decode time of each fragment of an MP4 file (ISO/IEC 14496-12, 8.8.12).
Bytes MoveFragments(Bytes mp4) {
  const std::string name = "tfdt";
  size_t count = 0;
  for (auto at = mp4.begin(); (at = std::search(at, mp4.end(), name.begin(), name.end())) != mp4.end(); ++at) {
    REQUIRE(at[4] == 1);
    at[11] = 1;
    ++count;
  }
  REQUIRE(count > 0);
  return mp4;
}

TEST_CASE("times of fragments of a longer stream count from the first of them") {
  const Bytes fragments = Fixture("fragmented.mp4");
  CHECK(DecodeAll(MoveFragments(fragments)).samples == DecodeAll(fragments).samples);
}

TEST_CASE("times of a track of Ogg count from the start of the first track") {
  for (const char* name : {"late-track-libopus.ogg", "late-track-libvorbis.ogg"}) {
    CAPTURE(name);
    DecodeOptions options = Limits();
    options.track = 0;
    const double first = static_cast<double>(DecodeAll(Fixture(name), options).samples.size()) / 16000;
    options.track = 1;
    const Audio second = DecodeAll(Fixture(name), options);
    CHECK(static_cast<double>(second.samples.size()) / 16000 - first == doctest::Approx(1.5).epsilon(0.02));
    CHECK(PowerOf(second, 0, 1.4) < 1e-15);
    CHECK(second.gaps.empty());
  }
}

TEST_CASE("missing audio of the first page of Ogg keeps its time") {
  const size_t whole = DecodeAll(Fixture("vorbis.ogg")).samples.size();
  const size_t count = DecodeAll(Fixture("gap-in-first-page.ogg")).samples.size();
  CHECK(std::abs(static_cast<double>(count) - static_cast<double>(whole)) < 1600);
}

TEST_CASE("audio that ends before the picture ends in missing audio, unless the file is cut") {
  for (const char* name : {"picture-longer.mp4", "picture-longer.mkv", "picture-longer-fragments.mp4"}) {
    CAPTURE(name);
    const Bytes bytes = Fixture(name);
    const Audio audio = DecodeAll(bytes);
    REQUIRE(audio.gaps.size() == 1);
    CHECK(audio.gaps[0].end == doctest::Approx(17).epsilon(0.05));
    CHECK(static_cast<double>(audio.samples.size()) / 16000 == doctest::Approx(audio.gaps[0].end).epsilon(0.001));
    CHECK_FALSE(audio.source.truncated);
    DecodeOptions options = Limits();
    options.max_seconds = 13;
    CHECK(DecodeAll(bytes, options).gaps.empty());
  }
  for (const char* name : {"video.mp4", "late.mp4", "late.mkv", "tracks.ogg", "tracks-ac3.mp4"})
    CHECK(DecodeAll(Fixture(name)).gaps.empty());
}

}  // namespace
}  // namespace undertone
