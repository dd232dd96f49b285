#include "decode/container_sanitizer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "decode/chunked_decoder.h"
#include "decode/decode.h"
#include "decode/sink.h"
#include "support/audio_files.h"
#include "support/mp4_files.h"

namespace undertone {
namespace {

using namespace test;

Audio DecodeAll(const Bytes& bytes) { return Decode(bytes.data(), bytes.size(), Limits()); }

double Seconds(std::clock_t since) {
  return static_cast<double>(std::clock() - since) / static_cast<double>(CLOCKS_PER_SEC);
}

constexpr int kTags = 50'000;

TEST_CASE("tags of a FLAC file cost nothing, however many they are") {
  const Bytes flac = Fixture("speech.flac");
  std::vector<Bytes> comments;
  for (int i = 0; i < kTags; ++i) {
    const std::string text = "K" + std::to_string(i) + "=x";
    comments.push_back({static_cast<uint8_t>(text.size()), 0, 0, 0});
    comments.push_back(FromText(text));
  }
  const Bytes list = Join(comments);
  const Bytes count = {kTags & 255, kTags >> 8 & 255, kTags >> 16, 0};
  Bytes head(flac.begin(), flac.begin() + 42);
  head[4] = 0;
  const Bytes tagged = Join({head,
                             {4},
                             Number(list.size() + 8, 3),
                             {0, 0, 0, 0},
                             count,
                             list,
                             {0x81, 0, 0, 0},
                             Bytes(flac.begin() + 42, flac.end())});
  // What is left of the first header is damage to it.
  const std::clock_t start = std::clock();
  CHECK(DecodeAll(tagged).samples.size() > 11 * 16000);
  CHECK(Seconds(start) < 1);
}

Bytes Element(uint32_t id, const Bytes& body) {
  const size_t id_bytes = id > 0xFFFFFF ? 4 : id > 0xFF ? 2 : 1;
  return Join({Number(id, id_bytes), {8}, Number(body.size(), 4), body});
}

Bytes::iterator FindNumber(Bytes* bytes, uint64_t value) {
  const Bytes number = Number(value, 4);
  return std::search(bytes->begin(), bytes->end(), number.begin(), number.end());
}

TEST_CASE("tags of a WebM file cost nothing, and the rest is read as it was") {
  const Bytes webm = Fixture("opus.webm");
  std::vector<Bytes> tags;
  for (int i = 0; i < kTags; ++i) {
    const Bytes name = Element(0x45A3, FromText("K" + std::to_string(i)));
    tags.push_back(Element(0x7373, Element(0x67C8, Join({name, Element(0x4487, FromText("x"))}))));
  }
  Bytes tagged = webm;
  const auto segment = FindNumber(&tagged, 0x18538067);
  REQUIRE(segment != tagged.end());
  REQUIRE(segment[4] == 1);
  std::fill(segment + 5, segment + 12, uint8_t{0xFF});  // to the end
  const Bytes element = Element(0x1254C367, Join(tags));
  tagged.insert(FindNumber(&tagged, 0x1F43B675), element.begin(), element.end());
  const std::clock_t start = std::clock();
  CHECK(DecodeAll(tagged).samples == DecodeAll(webm).samples);
  CHECK(Seconds(start) < 1);
}

TEST_CASE("packets that say nothing are counted no further than to the limit") {
  Bytes amr = FromText("#!AMR\n");
  amr.resize(size_t{16} << 20, 0x7C);
  const std::clock_t start = std::clock();
  CHECK(Refusal(amr) == "too_long: Expected at most 900 s of audio, got more");
  CHECK(Seconds(start) < 2);
}

TEST_CASE("silence in many channels at a high rate is refused as too much") {
  DecodeOptions options = Limits();
  options.max_seconds = 10;
  Sink sink(options);
  sink.SetFormat(384000, 8, 1);
  const auto write = [&](double seconds) {
    for (double done = 0; done < seconds; done += Sink::kBlock / 384000.0)
      sink.Write(sink.scratch(), Sink::kBlock);
  };
  write(1.8);
  CHECK_THROWS_WITH(write(1), "Expected at most 5.76e+06 samples of all channels, got more");
}

TEST_CASE("an MP4 of hours is heard to its end") {
  constexpr uint32_t kPackets = 1'100'000;  // six hours of 20 ms
  const Bytes file = Mp4(Bytes(kPackets, 0x7C), {SoundTrack("samr", kPackets, 1, 1)});
  DecodeOptions options = Limits();
  options.max_seconds = 43200;
  options.deadline_seconds = 0;
  ChunkedDecoder decoder(file.data(), file.size(), options, 300 * 16000);
  size_t samples = 0;
  for (std::vector<float> chunk = decoder.Next(); !chunk.empty(); chunk = decoder.Next())
    samples += chunk.size();
  CHECK(samples == size_t{kPackets} * 320);
  CHECK_FALSE(decoder.source().truncated);
}

// The first file needs an index larger than what libav may allocate for files of 15 minutes.
TEST_CASE("whether a file is accepted does not depend on the files before it") {
  constexpr uint32_t kPackets = 1'300'000;  // seven hours of 20 ms
  const Bytes file = Mp4(Bytes(kPackets, 0x7C), {SoundTrack("samr", kPackets, 1, 1)});
  const std::string alone = Refusal(file);
  CHECK(alone == "too_long: Expected at most 965536 packets of audio, got more");
  DecodeOptions options = Limits();
  options.max_seconds = 43200;
  CHECK(Refusal(Fixture("cbr.mp3"), options).empty());
  CHECK(Refusal(file) == alone);
}

std::string RefusalWithin(double seconds, const Bytes& file) {
  DecodeOptions options = Limits();
  options.max_seconds = seconds;
  return Refusal(file, options);
}

// The limit is 65,536 packets and 1,000 for each second.
TEST_CASE("more packets than a recording can have are refused, however a file declares them") {
  const std::string refusal = "too_long: Expected at most 66536 packets of audio, got more";
  const Bytes data(1000, 0x7C);
  CHECK(RefusalWithin(1, Mp4(data, {SoundTrack("samr", 70'000, 1, 1)})) == refusal);
  // PCM, whose index has one entry for 1024 samples of a chunk.
  CHECK(RefusalWithin(20, Mp4(Bytes(80'000), {SoundTrack("twos", 80'000, 1, 1, 1)})) == "");
  CHECK(RefusalWithin(1, Mp4(data, {SoundTrack("twos", 2'000'000'000, 1, 20, 1)})) == refusal);
  // Edits, each of which may list every packet.
  Bytes edited = SoundTrack("samr", 1000, 1, 1);
  const Bytes edits = Box("edts", {Box("elst", {Words({0, 70})})});
  edited.insert(edited.end(), edits.begin(), edits.end());
  const Bytes size = Number(edited.size(), 4);
  std::copy(size.begin(), size.end(), edited.begin());
  CHECK(RefusalWithin(1, Mp4(data, {edited})) == refusal);
  // Fragments whose packets all have the same size.
  const Bytes run = Box("trun", {Words({0, 70'000})});
  const Bytes fragment = Box("moof", {Box("traf", {run})});
  CHECK(RefusalWithin(1, Join({Mp4(data, {SoundTrack("samr", 1, 1, 1)}), fragment})) == refusal);
  // The packet table of a CAF file.
  Bytes caf = Fixture("alac.caf");
  const auto table = Find(&caf, "pakt");
  REQUIRE(table != caf.end());
  CHECK(RefusalWithin(900, caf) == "");
  std::fill(table + 12, table + 16, uint8_t{0xFF});
  CHECK(RefusalWithin(1, caf) == refusal);
}

TEST_CASE("packets that share their bytes are refused") {
  const Bytes file = Mp4(Bytes(4 << 20), {SoundTrack("mp4a", 20'000, 4 << 20, 20'000)});
  const std::clock_t start = std::clock();
  CHECK(Refusal(file) == "malformed: Expected packets that the file has room for, got far larger ones");
  CHECK(Seconds(start) < 1);
}

// The bytes as libav reads them.
std::string Shown(Bytes bytes, Kind kind) {
  const Veil veil = MakeVeil(bytes.data(), bytes.size(), kind);
  for (const Patch& patch : veil.patches) bytes[patch.at] = patch.byte;
  return std::string(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(veil.size));
}

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST_CASE("sizes past the end of the file are not shown, unless they are those of the samples") {
  Bytes mp4 = Mp4({0x7C}, {SoundTrack("samr", 1, 1, 1)});
  const auto movie = Find(&mp4, "moov");
  const size_t at = static_cast<size_t>(movie - mp4.begin()) - 4;
  const std::string honest = Shown(mp4, Kind::kMp4);
  std::fill(mp4.begin() + static_cast<ptrdiff_t>(at), movie, uint8_t{0x7F});
  CHECK(Shown(mp4, Kind::kMp4) == honest);
  const auto data = Find(&mp4, "mdat");
  std::fill(data - 4, data, uint8_t{0x7F});
  CHECK(Count(Shown(mp4, Kind::kMp4), "\x7F\x7F\x7F\x7Fmdat") == 1);
  const Bytes caf =
      Join({FromText("caff"), Number(0x10000, 4), FromText("kuki"), Number(1 << 30, 8), Bytes(8)});
  CHECK(Count(Shown(caf, Kind::kCaf), "free") == 1);
  const Bytes aiff =
      Join({FromText("FORM"), Number(100, 4), FromText("AIFFSSND"), Number(1 << 30, 4), Bytes(8)});
  CHECK(Count(Shown(aiff, Kind::kAiff), "SSND") == 1);
}

TEST_CASE("of an MP4 the first track with sound is shown, and nothing beside it") {
  const Bytes sound = SoundTrack("samr", 2, 1, 1);
  Bytes film = sound;
  const auto handler = Find(&film, "soun");
  std::copy_n("vide", 4, handler);
  const Bytes file = Mp4({0x7C, 0x7C}, {film, sound, sound, Box("udta", {}), Box("pssh", {})});
  const std::string shown = Shown(file, Kind::kMp4);
  CHECK(Count(shown, "trak") == 1);
  CHECK(Count(shown, "free") == 4);
  CHECK(shown.find("trak") > shown.find("vide"));
  CHECK(Count(Shown(Mp4({}, {film, film}), Kind::kMp4), "trak") == 1);
  CHECK(Refusal(Mp4({}, {film})) == "unsupported: Expected an audio stream, got a video without one");
}

TEST_CASE("what is beside the sound is hidden in little memory, or refused") {
  Bytes keys = Mp4Type();
  for (int i = 0; i < 250'001; ++i) {
    const Bytes box = Box("pssh", {});
    keys.insert(keys.end(), box.begin(), box.end());
  }
  CHECK(Refusal(keys) == "malformed: Expected mostly sound in the file, got a million things beside it");
  Bytes padded = Fixture("speech.aiff");
  padded.resize(padded.size() + (4 << 20));
  CHECK(DecodeAll(padded).samples == DecodeAll(Fixture("speech.aiff")).samples);
}

TEST_CASE("of an Ogg file comments are hidden and checksums right, and damaged pages end it") {
  const std::string shown = Shown(Fixture("vorbis.ogg"), Kind::kOgg);
  const size_t comments = shown.find("\3vorbis");
  REQUIRE(comments != std::string::npos);
  CHECK(shown.substr(comments + 7, 8) == std::string(8, '\0'));
  const Bytes again(shown.begin(), shown.end());
  CHECK(Shown(again, Kind::kOgg) == shown);  // a page with a wrong sum would be shown as it is
  CHECK(DecodeAll(again).samples == DecodeAll(Fixture("vorbis.ogg")).samples);
  Bytes damaged;
  for (int i = 0; i < 2000; ++i) {
    const Bytes page = FromText("OggS" + std::string(22, '\0') + "\1\1x");
    damaged.insert(damaged.end(), page.begin(), page.end());
  }
  CHECK(Shown(damaged, Kind::kOgg).size() == 1000 * 29);
}

}  // namespace
}  // namespace undertone
