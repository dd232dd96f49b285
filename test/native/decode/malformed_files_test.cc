#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <set>
#include <utility>

#include "decode/decode.h"
#include "decode/sink.h"
#include "support/mp4_files.h"

namespace undertone {
namespace {

using namespace test;

Audio DecodeAll(const Bytes& bytes) { return Decode(bytes.data(), bytes.size(), Limits()); }

Bytes Cut(Bytes bytes, double share) {
  bytes.resize(static_cast<size_t>(static_cast<double>(bytes.size()) * share));
  return bytes;
}

TEST_CASE("MPEG frames in an archive or a video are not decoded") {
  const Bytes mp3 = Fixture("cbr.mp3");
  const std::pair<size_t, std::string> magics[] = {
      {257, "ustar"},          {0, "!<arch>\n"},        {0, "070701"}, {8, "AVI "},
      {0, "\x28\xB5\x2F\xFD"}, {0, "\xD0\xCF\x11\xE0"}, {0, "FWS\6"},  {0, {"\0\0\1\xBA", 4}}};
  for (const auto& entry : magics) {
    const auto at = entry.first;
    const std::string& magic = entry.second;
    Bytes file(512, 0);
    std::copy(magic.begin(), magic.end(), file.begin() + static_cast<ptrdiff_t>(at));
    CAPTURE(magic);
    CHECK(ErrorOf(Join({file, mp3})).substr(0, 11) == "unsupported");
  }
}

TEST_CASE("a WAV format chunk may have no bits per sample") {
  Bytes wav = WavOf(1, 8, 8000, 1, Bytes(8000, 200));
  wav.erase(wav.begin() + 34, wav.begin() + 36);
  Put32(&wav, 16, 14);
  CHECK(DecodeAll(wav).samples.size() == 16000);
}

TEST_CASE("one frame header in noise is not a stream") {
  Bytes noise(3000, 1);
  const Bytes header = {0xFF, 0xF1, 0x50, 0x80, 0x40, 0x1F, 0xFC};  // ADTS, 512 bytes
  std::copy(header.begin(), header.end(), noise.begin() + 2900);
  CHECK(ErrorOf(noise) == "unknown: Expected an audio file, got data of an unknown kind");
  CHECK(ErrorOf(FromText("#!AMRX\n\1\2\3")) ==
        "unknown: Expected an audio file, got data of an unknown kind");
}

TEST_CASE("protected MP4 audio is named, not decoded to noise") {
  for (const char* kind : {"drms", "enca"}) {
    Bytes file = Fixture("aac.m4a");
    const auto entry = Find(&file, "mp4a");
    REQUIRE(entry != file.end());
    std::copy(kind, kind + 4, entry);
    CHECK(ErrorOf(file) == "unsupported: Expected unencrypted audio, got an encrypted mp4 file");
  }
}

TEST_CASE("an audio format without a frame is malformed, without samples empty") {
  CHECK(ErrorOf(FromText("fLaC")) == "malformed: Expected a readable flac file, got a corrupt one");
  CHECK(ErrorOf(FromText("OggS and no more")) ==
        "malformed: Expected a readable ogg file, got a corrupt one");
  CHECK(ErrorOf(FromText("RIFF\4\1\1\1WAVE")) == "malformed: Expected a WAV format chunk, got none");
  CHECK(ErrorOf(FromText("ID3\3\1\1\1\1\1\1 nothing")) ==
        "malformed: Expected audio after the ID3 tag, got none");
  CHECK(ErrorOf(Wav16(16000, 1, {})) == "empty: Expected samples in the wav file, got none");
  CHECK(ErrorOf(FromText("#!AMR\n")) == "empty: Expected samples in the amr file, got none");
  Bytes flac = Fixture("speech.flac");
  std::fill(flac.begin() + 9000, flac.end(), uint8_t{0});
  flac.resize(9100);
  CHECK(ErrorOf(flac).substr(0, 10) == "malformed:");
}

TEST_CASE("rates, channels and seconds beyond the limits are refused") {
  const std::vector<float> samples(16000, 0.1F);
  CHECK(ErrorOf(Wav16(1, 1, samples)) == "sample_rate: Expected a sample rate of 4000 to 384000 Hz, got 1");
  CHECK(ErrorOf(Wav16(0, 1, samples)) == "sample_rate: Expected a sample rate of 4000 to 384000 Hz, got 0");
  CHECK(ErrorOf(Wav16(768000, 1, samples)) ==
        "sample_rate: Expected a sample rate of 4000 to 384000 Hz, got 768000");
  CHECK(ErrorOf(Wav16(16000, 9, samples)) == "too_many_channels: Expected at most 8 channels, got 9");
  CHECK(ErrorOf(Wav16(16000, 300, samples)) == "too_many_channels: Expected at most 8 channels, got 300");
  CHECK(ErrorOf(Wav16(16000, 0, samples)) == "malformed: Expected at least one channel, got none");
  DecodeOptions options = Limits();
  options.max_seconds = 1;
  CHECK(ErrorOf(Wav16(16000, 1, samples), options).empty());
  CHECK(ErrorOf(Wav16(16000, 1, std::vector<float>(16001)), options) ==
        "too_long: Expected at most 1 s of audio, got more");
  for (const std::string& name : FixtureNames()) {
    if (name == "encrypted.mp4" || name == "silent-film.mp4" || name == "tracks-tone.m4a") continue;
    CAPTURE(name);
    CHECK(ErrorOf(Fixture(name), options) == "too_long: Expected at most 1 s of audio, got more");
  }
}

TEST_CASE("deadline and cancellation stop a decode") {
  DecodeOptions options = Limits();
  options.deadline_seconds = 1e-9;
  CHECK(ErrorOf(Fixture("cbr.mp3"), options) == "deadline: Decoding did not finish within 1e-09 s");
  const std::atomic<int32_t> cancel{1};
  options = Limits();
  options.cancel = &cancel;
  CHECK(ErrorOf(Fixture("cbr.mp3"), options) == "cancelled: Decoding was cancelled");
}

TEST_CASE("options out of range are the caller's mistake") {
  const Bytes wav = Wav16(16000, 1, std::vector<float>(100));
  DecodeOptions options = Limits();
  options.sample_rate = 0;
  CHECK(ErrorOf(wav, options) ==
        "bad_argument: Expected a number from 1000 to 384000 for `sampleRate`, got 0");
  options = Limits();
  options.max_seconds = std::numeric_limits<double>::infinity();
  CHECK(ErrorOf(wav, options) ==
        "bad_argument: Expected more than 0 for `limits.seconds`, got inf");
  options = Limits();
  options.channel = -3;
  CHECK(ErrorOf(wav, options) == "bad_argument: Expected an index for `channel`, got -3");
}

TEST_CASE("a file that ends early is decoded up to the cut") {
  const size_t whole = DecodeAll(Fixture("speech.wav")).samples.size();
  for (const char* name :
       {"speech.wav", "cbr.mp3", "adts.aac", "speech.flac", "vorbis.ogg", "opus.ogg", "opus.webm", "aac.mkv",
        "fast-start.m4a", "fragmented.mp4", "speech.aiff", "pcm.caf", "u8.wav"}) {
    CAPTURE(name);
    const Audio audio = DecodeAll(Cut(Fixture(name), 0.5));
    CHECK(static_cast<double>(audio.samples.size()) ==
          doctest::Approx(0.5 * static_cast<double>(whole)).epsilon(0.15));
  }
}

// Its writer could not seek back to the sizes in the header.
const std::set<std::string> kUnknownEnd = {"streamed.wav"};
// Their tables are at the end.
const std::set<std::string> kUnreadable = {
    "aac.m4a",    "alac.m4a", "flac.mp4", "opus.mp4", "mp3.mp4",        "aac.mov",             "pcm.mov",        "video.mp4",
    "speech.3gp", "alac.caf", "gap.mp4",  "late.mp4", "tracks-ac3.mp4", "tracks-disabled.m4a", "tracks-tone.m4a", "picture-longer.mp4"};

TEST_CASE("a file of any format that ends early is named truncated, a whole one is not") {
  for (const std::string& name : FixtureNames()) {
    if (name == "encrypted.mp4" || name == "silent-film.mp4") continue;
    CAPTURE(name);
    const Bytes whole = Fixture(name);
    CHECK_FALSE(DecodeAll(whole).source.truncated);
    for (const double share : {0.95, 0.9, 0.7, 0.5, 0.3}) {
      CAPTURE(share);
      Bytes cut = Cut(whole, share);
      if (kUnreadable.count(name) > 0) {
        CHECK_FALSE(ErrorOf(cut).empty());
        continue;
      }
      const bool seen = DecodeAll(cut).source.truncated;
      cut.pop_back();  // the first cut may be between two frames
      CHECK((seen || DecodeAll(cut).source.truncated) == (kUnknownEnd.count(name) == 0));
    }
  }
}

// Lengths at which a file, cut there, is decoded without a warning.
std::vector<size_t> UnseenCuts(Bytes file) {
  std::vector<size_t> unseen;
  for (const size_t all = file.size(); file.size() > all / 4;) {
    file.pop_back();
    if (ErrorOf(file).empty() && !DecodeAll(file).source.truncated) unseen.push_back(file.size());
  }
  return unseen;
}

TEST_CASE("only a cut between two frames of a format without sizes is unseen") {
  const std::pair<const char*, size_t> frames[] = {{"adts/mono.aac", 4},
                                                   {"adts/stereo.aac", 6},
                                                   {"mp3/layer2.mp3", 6},
                                                   {"amr/narrow.amr", 13},
                                                   {"webm/media-recorder-sliced.webm", 80}};
  for (const auto& most : frames) {
    const char* name = most.first;
    CAPTURE(name);
    CHECK_FALSE(DecodeAll(Corpus(name)).source.truncated);
    const size_t unseen = UnseenCuts(Corpus(name)).size();
    CHECK(unseen > 0);
    CHECK(unseen <= most.second);
  }
  for (const char* name : {"wav/s16.wav", "ogg/opus.ogg", "ogg/vorbis.ogg", "ogg/flac.ogg",
                           "webm/opus.webm", "webm/media-recorder.webm", "webm/aac.mkv"}) {
    CAPTURE(name);
    CHECK_FALSE(DecodeAll(Corpus(name)).source.truncated);
    CHECK(UnseenCuts(Corpus(name)) == std::vector<size_t>{});
  }
}

TEST_CASE("a WebM of unknown size is truncated where its blocks end before its duration") {
  Bytes webm = Fixture("opus.webm");
  const Bytes segment = Number(0x18538067, 4);
  const Bytes cluster = Number(0x1F43B675, 4);
  const auto size = std::search(webm.begin(), webm.end(), segment.begin(), segment.end()) + 5;
  std::fill(size, size + 7, uint8_t{0xFF});
  CHECK_FALSE(DecodeAll(webm).source.truncated);
  webm.erase(std::find_end(webm.begin(), webm.end(), cluster.begin(), cluster.end()), webm.end());
  CHECK(DecodeAll(webm).samples.size() > 5 * 16000);
  CHECK(DecodeAll(webm).source.truncated);
}

TEST_CASE("numbers that are none become 0") {
  std::vector<float> samples(16000, 0.25F);
  samples[10] = std::numeric_limits<float>::quiet_NaN();
  samples[11] = std::numeric_limits<float>::infinity();
  samples[12] = -std::numeric_limits<float>::infinity();
  samples[13] = std::numeric_limits<float>::max();
  samples[14] = std::numeric_limits<float>::denorm_min();
  const std::vector<float> same = DecodeAll(WavFloat(16000, 1, samples)).samples;
  CHECK(same[9] == 0.25F);
  for (size_t i = 10; i < 15; ++i) CHECK(same[i] == 0);
  for (const float sample : DecodeAll(WavFloat(44100, 1, samples)).samples) REQUIRE(std::isfinite(sample));
}

TEST_CASE("headers that lie about sizes cost nothing") {
  const Bytes honest = Wav16(16000, 1, std::vector<float>(16000, 0.1F));
  for (const uint32_t claim : {0xFFFFFFFFU, 0x7FFFF000U, 0x7FFFFFFFU, 2000000000U}) {
    Bytes wav = honest;
    Put32(&wav, 40, claim);
    CHECK(DecodeAll(wav).samples.size() == 16000);
    CHECK(DecodeAll(wav).source.truncated == (claim == 2000000000U));
  }
  Bytes crashed = honest;  // a recorder that never updated its header
  Put32(&crashed, 4, 0);
  Put32(&crashed, 40, 0);
  CHECK(DecodeAll(crashed).samples.size() == 16000);

  Bytes mp3 = Fixture("vbr.mp3");
  const auto xing = Find(&mp3, "Xing");
  REQUIRE(xing != mp3.end());
  std::fill(xing + 8, xing + 12, uint8_t{0xFF});
  CHECK(DecodeAll(mp3).samples.size() > 11 * 16000);

  Bytes flac = Fixture("speech.flac");  // 36 bits of sample count in STREAMINFO
  flac[21] |= 0x0F;
  std::fill(flac.begin() + 22, flac.begin() + 26, uint8_t{0xFF});
  CHECK(DecodeAll(flac).samples.size() > 11 * 16000);
  CHECK(DecodeAll(flac).source.truncated);
}

TEST_CASE("sample tables that claim two thousand million samples cost nothing") {
  for (const char* name : {"aac.m4a", "alac.m4a", "pcm.mov"}) {
    CAPTURE(name);
    Bytes file = Fixture(name);
    const auto table = Find(&file, "stsz");
    REQUIRE(table != file.end());
    const uint8_t claim[] = {0, 0, 0, 1, 0x7F, 0xFF, 0xFF, 0xFF};  // one byte each
    std::copy(claim, claim + 8, table + 8);
    const std::clock_t start = std::clock();
    ErrorOf(file);
    const std::clock_t claimed = std::clock() - start;
    DecodeAll(Fixture(name));
    const std::clock_t whole = std::clock() - start - claimed;
    CHECK(claimed < 20 * whole);
  }
}

TEST_CASE("a chain ends at the first later link that cannot be read") {
  const Bytes link = Fixture("vorbis.ogg");
  const Audio alone = DecodeAll(link);
  Bytes foreign = link;  // checksums of headers are not looked at before the codec is
  std::copy_n("speex", 5, Find(&foreign, "vorbis"));
  const Audio audio = DecodeAll(Join({link, foreign, link}));
  CHECK(audio.samples == alone.samples);
  CHECK(audio.source.truncated);
  CHECK_FALSE(ErrorOf(Join({foreign, link, link})).empty());
}

TEST_CASE("silence stands for damage among the frames of a later link, as in any file") {
  const Bytes link = Fixture("vorbis.ogg");
  Bytes damaged = link;
  std::fill_n(damaged.begin() + static_cast<ptrdiff_t>(damaged.size() / 2), 5000, uint8_t{0});
  const size_t alone = DecodeAll(link).samples.size();
  const size_t all = DecodeAll(Join({link, damaged, link})).samples.size();
  CHECK(all == 3 * alone);
}

// Most of it is not decoded, so it costs less CPU time than half as much accepted audio.
TEST_CASE("more audio than allowed is found out by its packets") {
  const Bytes ogg = Fixture("opus.ogg");
  Bytes chain;
  for (int i = 0; i < 82; ++i) chain.insert(chain.end(), ogg.begin(), ogg.end());
  const std::clock_t start = std::clock();
  CHECK(ErrorOf(chain) == "too_long: Expected at most 900 s of audio, got more");
  const std::clock_t refused = std::clock() - start;
  chain.resize(chain.size() / 2);
  CHECK(DecodeAll(chain).samples.size() > 400 * 16000);
  CHECK(refused < (std::clock() - start) / 2);
}

// One filter a rate is expensive: two megabytes of short FLAC frames could hold 150,000 changes.
TEST_CASE("a rate that changes without end is refused") {
  const DecodeOptions options = Limits();
  Sink sink(options);
  sink.budget().SetInputSize(size_t{1} << 40);  // the CPU time of a slow machine does not count
  const std::vector<float> samples(16);
  const float* plane = samples.data();
  const auto change = [&](int changes) {
    for (int i = 0; i < changes; ++i) {
      sink.SetFormat(i % 2 == 0 ? 44100 : 48000, 1, 1);
      sink.Write(&plane, samples.size());
    }
  };
  change(1000);
  CHECK_THROWS_WITH(change(10), "Expected a steady sample rate, got more than 1000 changes");
}

}  // namespace
}  // namespace undertone
