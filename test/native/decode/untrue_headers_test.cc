#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "decode/decode.h"
#include "support/audio_files.h"

namespace undertone {
namespace {

using namespace test;

Audio DecodeAll(const Bytes& bytes) { return Decode(bytes.data(), bytes.size(), Limits()); }

TEST_CASE("a header of Ogg that begins anew before samples is skipped") {
  const Bytes link = Fixture("vorbis.ogg");
  const Bytes headless(link.begin(), link.begin() + 200);
  const size_t count = DecodeAll(link).samples.size();
  CHECK(DecodeAll(Join({headless, link})).samples.size() == count);
  CHECK(DecodeAll(Join({link, headless, link})).samples.size() == 2 * count);
}

// Offsets of the pages after the first two, which hold the headers of Opus.
std::vector<size_t> DataPages(const Bytes& ogg) {
  std::vector<size_t> pages;
  const std::string magic = "OggS";
  for (auto at = ogg.begin(); at != ogg.end();
       at = std::search(at + 1, ogg.end(), magic.begin(), magic.end()))
    pages.push_back(static_cast<size_t>(at - ogg.begin()));
  return {pages.begin() + 2, pages.end()};
}

TEST_CASE("repeated headers of Opus are skipped, at the start and in the middle") {
  const Bytes ogg = Fixture("opus.ogg");
  const std::vector<size_t> pages = DataPages(ogg);
  const auto part = [&](size_t from, size_t to) {
    return Bytes(ogg.begin() + static_cast<ptrdiff_t>(from), ogg.begin() + static_cast<ptrdiff_t>(to));
  };
  const Bytes headers = part(0, pages[0]);
  const Audio whole = DecodeAll(ogg);
  for (const size_t at : {pages[0], pages[pages.size() / 2]}) {
    const Audio audio = DecodeAll(Join({part(0, at), headers, part(at, ogg.size())}));
    CHECK(static_cast<double>(audio.samples.size()) ==
          doctest::Approx(static_cast<double>(whole.samples.size())).epsilon(0.002));
    CHECK(audio.gaps.empty());
    CHECK_FALSE(audio.source.truncated);
  }
}

// The number after `name`, of `count` bytes.
void SetSize(Bytes* bytes, const std::string& name, size_t offset, size_t count, uint64_t size,
             bool big_endian) {
  const auto at = Find(bytes, name) + static_cast<ptrdiff_t>(offset);
  for (size_t i = 0; i < count; ++i)
    at[static_cast<ptrdiff_t>(i)] = static_cast<uint8_t>(size >> 8 * (big_endian ? count - 1 - i : i));
}

TEST_CASE("samples extend to the end where the declared size is that of a first buffer, or unknown") {
  struct Case {
    const char* file;
    const char* name;
    size_t offset;
    size_t count;
    uint64_t size;
    bool big_endian;
  };
  const std::vector<Case> cases = {
      {"mono-16k.wav", "data", 4, 4, 4096, false}, {"adpcm-ms.wav", "data", 4, 4, 4096, false},
      {"speech.aiff", "SSND", 4, 4, 4104, true},   {"pcm.caf", "data", 4, 8, 4096, true},
      {"pcm.caf", "data", 4, 8, UINT64_MAX, true}, {"speech.w64", "data", 16, 8, 4120, false}};
  for (const Case& one : cases) {
    CAPTURE(one.file);
    Bytes bytes = Fixture(one.file);
    const size_t count = DecodeAll(bytes).samples.size();
    SetSize(&bytes, one.name, one.offset, one.count, one.size, one.big_endian);
    const Audio audio = DecodeAll(bytes);
    CHECK(audio.samples.size() == doctest::Approx(count).epsilon(0.005));
    CHECK_FALSE(audio.source.truncated);
    CHECK_FALSE(audio.source.unread_data);
  }
}

TEST_CASE("of two files in one, all is decoded or the source says that data was not read") {
  for (const std::string& name : FixtureNames()) {
    if (name == "encrypted.mp4" || name == "silent-film.mp4") continue;
    CAPTURE(name);
    const Bytes bytes = Fixture(name);
    const Audio one = DecodeAll(bytes);
    CHECK_FALSE(one.source.unread_data);
    const Audio both = DecodeAll(Join({bytes, bytes}));
    const bool all = static_cast<double>(both.samples.size()) > 1.99 * static_cast<double>(one.samples.size());
    CHECK((all || both.source.unread_data));
  }
}

TEST_CASE("data between frames of MP3 and ADTS is named, and the frames after it are decoded") {
  for (const char* name : {"cbr.mp3", "vbr.mp3", "adts.aac"}) {
    CAPTURE(name);
    const Bytes whole = Fixture(name);
    const auto middle = whole.begin() + static_cast<ptrdiff_t>(whole.size() / 2);
    const size_t count = DecodeAll(whole).samples.size();
    for (const char* between : {"<html>502 Bad Gateway</html>", "\r\n"}) {
      Bytes bytes(whole.begin(), middle);
      for (int i = 0; i < 30; ++i) bytes.insert(bytes.end(), between, between + std::strlen(between));
      bytes.insert(bytes.end(), middle, whole.end());
      const Audio audio = DecodeAll(bytes);
      CHECK(audio.source.unread_data);
      CHECK(audio.samples.size() == doctest::Approx(count).epsilon(0.01));
    }
  }
  Bytes tag(128);
  std::copy_n("TAG", 3, tag.begin());
  CHECK_FALSE(DecodeAll(Join({Fixture("cbr.mp3"), tag, Fixture("cbr.mp3"), tag})).source.unread_data);
}

TEST_CASE("damaged first frames of MP3 are named") {
  const Bytes mp3 = Fixture("cbr.mp3");
  Bytes without_headers = mp3;
  std::fill_n(without_headers.begin() + 45, 8000, uint8_t{0});
  CHECK(DecodeAll(without_headers).source.unread_data);
  Bytes damaged = mp3;
  const Bytes header = {0xFF, 0xFB};
  auto frame = std::search(damaged.begin(), damaged.end(), header.begin(), header.end());
  for (int count = 0; count < 40; ++count) {
    const int length = 417 + (frame[2] >> 1 & 1);  // of 128 kbit/s at 44.1 kHz, with its padding
    std::fill_n(frame + 4, length - 4, uint8_t{0xA5});
    frame += length;
  }
  CHECK(DecodeAll(damaged).source.unread_data);
}

}  // namespace
}  // namespace undertone
