#include "decode_veil.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "decode.h"
#include "decode_files.h"
#include "decode_sink.h"

namespace undertone {
namespace {

using namespace test;

Audio DecodeAll(const Bytes& bytes) { return Decode(bytes.data(), bytes.size(), Limits()); }

// Big-endian.
Bytes Number(uint64_t value, size_t count) {
  Bytes bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[count - 1 - i] = static_cast<uint8_t>(value >> 8 * i);
  return bytes;
}

Bytes Join(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

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
  sink.Begin(384000, 8, 1);
  const auto write = [&](double seconds) {
    for (double done = 0; done < seconds; done += Sink::kBlock / 384000.0)
      sink.Write(sink.scratch(), Sink::kBlock);
  };
  write(1.8);
  CHECK_THROWS_WITH(write(1), "Expected at most 5.76e+06 samples of all channels, got more");
}

Bytes Box(const std::string& name, const std::vector<Bytes>& inner) {
  const Bytes body = Join(inner);
  return Join({Number(body.size() + 8, 4), FromText(name), body});
}

Bytes Words(const std::vector<uint32_t>& values) {
  Bytes all;
  for (const uint32_t value : values) {
    const Bytes word = Number(value, 4);
    all.insert(all.end(), word.begin(), word.end());
  }
  return all;
}

const Bytes kType = Box("ftyp", {FromText("3gp4"), Words({0})});

// `count` samples of `size` bytes, in so many chunks that begin at the same place.
Bytes SoundTrack(const std::string& coding, uint32_t count, uint32_t size, uint32_t chunks) {
  const Bytes entry = Box(coding, {Words({0, 1, 0, 0, 0x10010, 0, 8000U << 16})});
  std::vector<uint32_t> places(chunks, static_cast<uint32_t>(kType.size() + 8));
  places.insert(places.begin(), {0, chunks});
  return Box(
      "trak",
      {Box("tkhd", {Words({7, 0, 0, 1, 0, 1}), Bytes(60)}),
       Box("mdia",
           {Box("mdhd", {Words({0, 0, 0, 8000, 0, 0})}),
            Box("hdlr", {Words({0, 0}), FromText("soun"), Bytes(13)}),
            Box("minf",
                {Box("stbl", {Box("stsd", {Words({0, 1}), entry}), Box("stts", {Words({0, 1, count, 160})}),
                              Box("stsc", {Words({0, 1, 1, count / chunks, 1})}),
                              Box("stsz", {Words({0, size, count})}), Box("stco", {Words(places)})})})})});
}

Bytes Mp4(const Bytes& data, const std::vector<Bytes>& tracks) {
  const Bytes head = Box("mvhd", {Words({0, 0, 0, 1000, 1000}), Bytes(80)});
  return Join({kType, Box("mdat", {data}), Box("moov", {head, Join(tracks)})});
}

TEST_CASE("an MP4 of hours is heard to its end") {
  constexpr uint32_t kPackets = 1'100'000;  // six hours of 20 ms
  const Bytes file = Mp4(Bytes(kPackets, 0x7C), {SoundTrack("samr", kPackets, 1, 1)});
  DecodeOptions options = Limits();
  options.max_seconds = 43200;
  options.deadline_seconds = 0;
  size_t heard = 0;
  const Taker taker = {[](double) {}, [&](const std::vector<float>& samples) { heard += samples.size(); }};
  const Source source = DecodeTo(file.data(), file.size(), options, taker);
  CHECK(heard == size_t{kPackets} * 320);
  CHECK_FALSE(source.truncated);
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
  Bytes keys = kType;
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
