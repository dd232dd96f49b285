#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <new>
#include <string>

#include "decode/container_sanitizer.h"
#include "decode/decode.h"
#include "decode/decode_budget.h"
#include "decode/sink.h"
#include "support/audio_files.h"
#include "support/crafted_files.h"
#include "support/faults.h"

namespace undertone {
namespace {

using namespace test;

Audio DecodeAll(const Bytes& bytes) { return Decode(bytes.data(), bytes.size(), Limits()); }

// Of CPU time: that of a sanitizer on a busy machine.
#if defined(__SANITIZE_ADDRESS__)
constexpr double kSlowdown = 4;
#else
constexpr double kSlowdown = 1;
#endif

double Seconds(std::clock_t since) {
  return static_cast<double>(std::clock() - since) / static_cast<double>(CLOCKS_PER_SEC);
}

TEST_CASE("lists in crafted files cost no time") {
  for (const auto& file : CraftedFiles()) {
    CAPTURE(file.first);
    const std::clock_t start = std::clock();
    ErrorOf(file.second);
    CHECK(Seconds(start) < kSlowdown);
  }
}

TEST_CASE("a file without its comments has the same samples") {
  const auto files = CraftedFiles();
  // The blocks of the original FLAC header that follow the comments are skipped as damage.
  CHECK(DecodeAll(files[0].second).samples.size() > 11 * 16000);
  CHECK(DecodeAll(files[2].second).samples == DecodeAll(Fixture("opus.webm")).samples);
}

TEST_CASE("packets without a duration are counted up to the limit") {
  Bytes amr = FromText("#!AMR\n");
  amr.resize(size_t{16} << 20, 0x7C);
  const std::clock_t start = std::clock();
  CHECK(ErrorOf(amr) == "too_long: Expected at most 900 s of audio, got more");
  CHECK(Seconds(start) < 2 * kSlowdown);
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

TEST_CASE("an MP4 of hours is decoded to its end") {
  constexpr uint32_t kPackets = 1'100'000;  // six hours of 20 ms
  const Bytes file = Mp4(Bytes(kPackets, 0x7C), {SoundTrack("samr", kPackets, 1, 1)});
  DecodeOptions options = Limits();
  options.max_seconds = 43200;
  options.deadline_seconds = 0;
  IncrementalDecoder decoder(file.data(), file.size(), options, 300 * 16000);
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
  const std::string alone = ErrorOf(file);
  CHECK(alone == "too_long: Expected at most 965536 packets of audio, got more");
  DecodeOptions options = Limits();
  options.max_seconds = 43200;
  CHECK(ErrorOf(Fixture("cbr.mp3"), options).empty());
  CHECK(ErrorOf(file) == alone);
}

std::string ErrorWithin(double seconds, const Bytes& file) {
  DecodeOptions options = Limits();
  options.max_seconds = seconds;
  return ErrorOf(file, options);
}

// The limit is 65,536 packets and 1,000 for each second.
TEST_CASE("more packets than a recording can have are refused, however a file declares them") {
  const std::string refusal = "too_long: Expected at most 66536 packets of audio, got more";
  const Bytes data(1000, 0x7C);
  CHECK(ErrorWithin(1, Mp4(data, {SoundTrack("samr", 70'000, 1, 1)})) == refusal);
  // PCM, whose index has one entry for 1024 samples of a chunk.
  CHECK(ErrorWithin(20, Mp4(Bytes(80'000), {SoundTrack("twos", 80'000, 1, 1, 1)})) == "");
  CHECK(ErrorWithin(1, Mp4(data, {SoundTrack("twos", 2'000'000'000, 1, 20, 1)})) == refusal);
  // Edits, each of which may list every packet.
  const Bytes sound = SoundTrack("samr", 1000, 1, 1);
  CHECK(ErrorWithin(1, Mp4(data, {WithEdits(sound, Words({0, 70}))})) == refusal);
  // libavformat counts them by the size of the box.
  CHECK(ErrorWithin(1, Mp4(data, {WithEdits(sound, Join({Words({0, 1}), Bytes(70 * 12)}))})) == refusal);
  // A track of a video, in which libavformat joins no samples. The first table of chunks counts.
  Bytes film = SoundTrack("twos", 70'000, 1, 1, 1);
  std::copy_n("vide", 4, Find(&film, "soun"));
  CHECK(ErrorWithin(1, Mp4(data, {film})) == refusal);
  // Fragments whose packets all have the same size.
  const Bytes run = Box("trun", {Words({0, 70'000})});
  const Bytes fragment = Box("moof", {Box("traf", {run})});
  CHECK(ErrorWithin(1, Join({Mp4(data, {SoundTrack("samr", 1, 1, 1)}), fragment})) == refusal);
  // The packet table of a CAF file.
  Bytes caf = Fixture("alac.caf");
  const auto table = Find(&caf, "pakt");
  REQUIRE(table != caf.end());
  CHECK(ErrorWithin(900, caf) == "");
  std::fill(table + 12, table + 16, uint8_t{0xFF});
  CHECK(ErrorWithin(1, caf) == refusal);
}

TEST_CASE("packets that share their bytes are refused") {
  const Bytes file = Mp4(Bytes(4 << 20), {SoundTrack("mp4a", 20'000, 4 << 20, 20'000)});
  const std::clock_t start = std::clock();
  CHECK(ErrorOf(file) == "malformed: Packets add up to far more bytes than the file");
  CHECK(Seconds(start) < kSlowdown);
}

// The bytes as libavformat reads them.
std::string Sanitized(Bytes bytes, ContainerFormat format) {
  const DecodeBudget budget(Limits());
  for (const Patch& patch : SanitizeContainer(bytes.data(), bytes.size(), format, {}, budget).patches)
    bytes[patch.at] = patch.byte;
  return std::string(bytes.begin(), bytes.end());
}

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST_CASE("an MP4 keeps its first audio track and no metadata") {
  const Bytes sound = SoundTrack("samr", 2, 1, 1);
  Bytes film = sound;
  const auto handler = Find(&film, "soun");
  std::copy_n("vide", 4, handler);
  const Bytes file = Mp4({0x7C, 0x7C}, {film, sound, sound, Box("udta", {}), Box("pssh", {})});
  const std::string sanitized = Sanitized(file, ContainerFormat::kMp4);
  CHECK(Count(sanitized, "trak") == 1);
  CHECK(Count(sanitized, "skip") == 4);
  CHECK(sanitized.find("trak") > sanitized.find("vide"));
  CHECK(Count(Sanitized(Mp4({}, {film, film}), ContainerFormat::kMp4), "trak") == 1);
  CHECK(ErrorOf(Mp4({}, {film})) == "unsupported: Expected an audio stream, got a video without one");
}

TEST_CASE("a movie or track that is not at the top of an MP4 is not read") {
  const Bytes sound = SoundTrack("samr", 2, 1, 1);
  const Bytes movie = Box("moov", {Box("mvhd", {Bytes(100)}), sound});
  const auto refusal = [](const std::string& name) {
    return "malformed: Expected movie and tracks at the top of the mp4 file, got a nested " + name + " box";
  };
  CHECK(ErrorOf(Mp4({0x7C, 0x7C}, {Box("mvex", {movie}), sound})) == refusal("moov"));
  CHECK(ErrorOf(Mp4({0x7C, 0x7C}, {Box("mvex", {Box("cmov", {})}), sound})) == refusal("cmov"));
  CHECK(ErrorOf(Join({Mp4({0x7C, 0x7C}, {sound}), Box("moof", {Box("hoov", {})})})) == refusal("hoov"));
  const std::string corrupt = "malformed: Expected a readable 3gp file, got a corrupt one";
  for (const char* name : {"free", "hoov", "udta"})
    CHECK(ErrorOf(Join({Mp4Type(), Box(name, {movie, Bytes(8)})})) == corrupt);
  CHECK(ErrorOf(Join({Mp4Type(), sound})) == corrupt);
  CHECK(ErrorOf(Mp4({0x7C, 0x7C}, {movie, sound})).empty());
}

TEST_CASE("tags between frames and in chunks are skipped as a whole") {
  const Bytes tag = Join({FromText({"ID3\4\0\0\0\0\0\x0A", 10}), Bytes(10)});
  for (const ContainerFormat format : {ContainerFormat::kAdts, ContainerFormat::kWav, ContainerFormat::kAiff}) {
    const std::string sanitized = Sanitized(Join({Bytes(20, 1), tag, Bytes(20, 1), tag}), format);
    CHECK(Count(sanitized, "ID3\1") == 2);
  }
  const Bytes adts = Fixture("adts.aac");
  CHECK(DecodeAll(Join({adts, tag, adts})).samples.size() > DecodeAll(adts).samples.size());
}

TEST_CASE("the duration of a fragment of a long stream is its own") {
  Bytes late = Fixture("fragmented.mp4");
  const Audio whole = DecodeAll(late);
  for (auto at = late.begin();;) {
    const std::string name = "tfdt";
    at = std::search(at, late.end(), name.begin(), name.end());
    if (at == late.end()) break;
    REQUIRE(*(at + 4) == 1);  // 8 bytes of time
    *(at + 11) = 1;  // 2^32 ticks more
    ++at;
  }
  const Audio audio = DecodeAll(late);
  CHECK(audio.samples.size() == whole.samples.size());
  CHECK_FALSE(audio.source.truncated);
}

TEST_CASE("too much metadata is rejected") {
  Bytes keys = Mp4Type();
  for (int i = 0; i < 250'001; ++i) {
    const Bytes box = Box("pssh", {});
    keys.insert(keys.end(), box.begin(), box.end());
  }
  CHECK(ErrorOf(keys) ==
        "malformed: Expected mostly audio in the file, got a million bytes of metadata headers");
}

TEST_CASE("an Ogg file loses its comments and keeps valid checksums") {
  const std::string sanitized = Sanitized(Fixture("vorbis.ogg"), ContainerFormat::kOgg);
  const size_t comments = sanitized.find("\3vorbis");
  REQUIRE(comments != std::string::npos);
  CHECK(sanitized.substr(comments + 7, 8) == std::string(8, '\0'));
  const Bytes again(sanitized.begin(), sanitized.end());
  CHECK(Sanitized(again, ContainerFormat::kOgg) ==
        sanitized);  // pages with an invalid checksum are not patched
  CHECK(DecodeAll(again).samples == DecodeAll(Fixture("vorbis.ogg")).samples);
}

// Each page header claims 64 KiB, whose checksum is invalid.
TEST_CASE("damaged Ogg pages end with the CPU budget") {
  const Bytes page = FromText(std::string("OggS\0\2", 6) + std::string(20, '\0') + "\xFF" + std::string(255, '\xFF'));
  CHECK(ErrorOf(Join(std::vector<Bytes>(40'000, page))).substr(0, 11) == "too_complex");
}

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
