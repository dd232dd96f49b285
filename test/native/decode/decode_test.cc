#include "decode/decode.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "support/audio_files.h"
#include "support/mp4_files.h"

namespace undertone {
namespace {

using namespace test;

Audio DecodeAll(const Bytes& bytes, const DecodeOptions& options = Limits()) {
  return Decode(bytes.data(), bytes.size(), options);
}

// Largest normalised correlation over shifts of at most `most` samples.
double BestCorrelation(const std::vector<float>& a, const std::vector<float>& b, int most) {
  double best = 0;
  const size_t count = std::min(std::min(a.size(), b.size()), size_t{100000}) - 2000;
  for (int shift = -most; shift <= most; ++shift) {
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 1000; i < count; i += 4) {
      const double x = a[i];
      const double y = b[static_cast<size_t>(static_cast<int>(i) + shift)];
      ab += x * y;
      aa += x * x;
      bb += y * y;
    }
    best = std::max(best, ab / std::sqrt(aa * bb + 1e-20));
  }
  return best;
}

double Power(const std::vector<float>& samples) {
  return std::inner_product(samples.begin(), samples.end(), samples.begin(), 0.0);
}

// Files that do not declare the delay of their encoder, up to 60 ms.
const std::string kDelayed[] = {"aac.mkv",   "adts.aac",   "fragmented.mp4", "layer2.mp3",
                                "plain.mp3", "speech.3gp", "speech.amr"};

bool IsAltered(const std::string& name) {
  const auto begins = [&](const char* prefix) { return name.find(prefix) == 0; };
  return begins("gap") || begins("late") || begins("noisy") || begins("picture-longer");
}

TEST_CASE("every container and codec decodes to the original") {
  const Audio original = DecodeAll(Fixture("speech.wav"));
  for (const std::string& name : FixtureNames()) {
    if (name == "encrypted.mp4" || name == "silent-film.mp4" || name == "tracks-tone.m4a" ||
        name.find("chain") != std::string::npos || IsAltered(name))
      continue;
    CAPTURE(name);
    const Audio audio = DecodeAll(Fixture(name));
    const double share =
        static_cast<double>(audio.samples.size()) / static_cast<double>(original.samples.size());
    REQUIRE(std::abs(share - 1) < 0.01);
    const bool delayed = std::count(std::begin(kDelayed), std::end(kDelayed), name) > 0;
    const double correlation = BestCorrelation(audio.samples, original.samples, delayed ? 960 : 1);
    const bool telephone = audio.source.codec == "amr_nb" || audio.source.codec == "gsm_ms";
    CHECK(correlation > (telephone ? 0.75 : delayed ? 0.95 : 0.99));
    // LAME encodes at 0.95 of the amplitude.
    if (!delayed && !telephone)
      CHECK(Power(audio.samples) == doctest::Approx(Power(original.samples)).epsilon(0.15));
    CHECK_FALSE(audio.source.truncated);
    CHECK(audio.sample_rate == 16000);
  }
}

TEST_CASE("the source is named") {
  const auto name = [](const char* file) {
    const Source source = DecodeAll(Fixture(file)).source;
    return source.container + " " + source.codec + " " + std::to_string(source.sample_rate) + " " +
           std::to_string(source.channels);
  };
  CHECK(name("speech.wav") == "wav pcm_s16le 44100 2");
  CHECK(name("adpcm-ima.wav") == "wav adpcm_ima_wav 44100 2");
  CHECK(name("cbr.mp3") == "mp3 mp3 44100 2");
  CHECK(name("aac.m4a") == "mp4 aac 44100 2");
  CHECK(name("alac.m4a") == "mp4 alac 44100 2");
  CHECK(name("aac.mov") == "mov aac 44100 2");
  CHECK(name("speech.3gp") == "3gp amr_nb 8000 1");
  CHECK(name("adts.aac") == "adts aac 44100 2");
  CHECK(name("speech.flac") == "flac flac 44100 2");
  CHECK(name("opus.ogg") == "ogg opus 48000 2");
  CHECK(name("opus.webm") == "webm opus 48000 2");
  CHECK(name("aac.mkv") == "matroska aac 44100 2");
  CHECK(name("speech.aiff") == "aiff pcm_s16be 44100 2");
  CHECK(name("alac.caf") == "caf alac 44100 2");
  CHECK(name("gsm.wav") == "wav gsm_ms 8000 1");
  CHECK(name("speech.au") == "au pcm_s16be 44100 2");
  CHECK(name("mulaw.au") == "au pcm_mulaw 44100 2");
  CHECK(name("speech.w64") == "w64 pcm_s16le 44100 2");
  CHECK(name("speech.amr") == "amr amr_nb 8000 1");
  CHECK(name("video.mp4") == "mp4 aac 44100 2");
}

TEST_CASE("a chained Ogg file is decoded to its end") {
  const auto seconds = [](const char* file) { return DecodeAll(Fixture(file)).samples.size() / 16000.0; };
  const double one = seconds("speech.wav");
  CHECK(seconds("chained.ogg") == doctest::Approx(2 * one).epsilon(0.01));
  CHECK(seconds("mixed-chain.ogg") == doctest::Approx(3 * one).epsilon(0.01));
}

TEST_CASE("a tag or junk before the first frame does not hide it") {
  const Bytes flac = Fixture("speech.flac");
  const size_t count = DecodeAll(flac).samples.size();
  constexpr uint8_t kHasFooter = 0x10;
  for (const size_t length : {256, 300'000, 2'500'000}) {  // the last two hold a picture
    for (const uint8_t flags : {uint8_t{0}, kHasFooter}) {
      Bytes tagged = FromText("ID3");
      tagged.insert(tagged.end(), {4, 0, flags});
      for (const int shift : {21, 14, 7, 0}) tagged.push_back(static_cast<uint8_t>(length >> shift & 0x7F));
      tagged.resize(tagged.size() + length + (flags == kHasFooter ? 10 : 0));
      tagged.insert(tagged.end(), flac.begin(), flac.end());
      CHECK(DecodeAll(tagged).samples.size() == count);
    }
  }
  Bytes junk(3000, 0);
  const Bytes mp3 = Fixture("cbr.mp3");
  junk.insert(junk.end(), mp3.begin(), mp3.end());
  CHECK(DecodeAll(junk).source.container == "mp3");
}

// Joins `frames` samples of a 3GP file into one each, as some telephones write them. `from` has one chunk.
Bytes JoinSamples(Bytes from, uint32_t frames) {
  const auto find = [&](const char* box) {
    return static_cast<size_t>(std::search(from.begin(), from.end(), box, box + 4) - from.begin());
  };
  const auto get = [&](size_t at) {
    return uint32_t{from[at]} << 24 | uint32_t{from[at + 1]} << 16 | uint32_t{from[at + 2]} << 8 |
           from[at + 3];
  };
  const auto put = [&](size_t at, uint32_t value) {
    for (size_t i = 0; i < 4; ++i) from[at + i] = static_cast<uint8_t>(value >> (24 - 8 * i));
  };
  const size_t sizes = find("stsz");
  const uint32_t count = get(sizes + 12);
  const uint32_t joined = (count + frames - 1) / frames;
  for (uint32_t i = 0; i < joined; ++i) {
    uint32_t sum = 0;
    for (uint32_t j = i * frames; j < std::min(count, (i + 1) * frames); ++j)
      sum += get(sizes + 16 + 4 * size_t{j});
    put(sizes + 16 + 4 * size_t{i}, sum);
  }
  put(sizes + 12, joined);
  put(find("stsc") + 16, joined);
  put(find("stts") + 8, 1);
  put(find("stts") + 12, joined);
  put(find("stts") + 16, 160 * frames);
  return from;
}

TEST_CASE("every AMR frame of a sample is decoded, and empty ones are silence") {
  const Bytes single = Fixture("speech.3gp");
  const Audio audio = DecodeAll(JoinSamples(single, 5));
  CHECK(audio.samples == DecodeAll(single).samples);
  CHECK_FALSE(audio.source.truncated);
}

// An MP4 that ends with its movie, with the tag that iTunes writes in place of an edit list.
Bytes WithItunesDelay(Bytes mp4, const std::string& delay) {
  const std::string none = "free";
  for (const char* box : {"edts", "udta"}) std::copy(none.begin(), none.end(), Find(&mp4, box));
  const Bytes item = Box("----", {Box("mean", {Words({0}), FromText("com.apple.iTunes")}),
                                  Box("name", {Words({0}), FromText("iTunSMPB")}),
                                  Box("data", {Words({1, 0}), FromText(delay)})});
  const Bytes tags = Box("udta", {Box("meta", {Words({0}), Box("ilst", {item})})});
  const auto size = Find(&mp4, "moov") - 4;
  const Bytes grown = Number(static_cast<uint64_t>(mp4.end() - size) + tags.size(), 4);
  std::copy(grown.begin(), grown.end(), size);
  return Join({mp4, tags});
}

TEST_CASE("what iTunes names as the delay of its encoder is left out") {
  const Bytes edited = Fixture("aac.m4a");
  const std::vector<float> samples = DecodeAll(edited).samples;
  const auto count = static_cast<double>(samples.size());  // of 16 kHz, as the file has of 44.1 kHz
  const double length = count * 44'100 / 16'000;
  const auto with_delay = [&](const char* priming, double frames) {
    char text[100];
    std::snprintf(text, sizeof text, " 00000000 %s 000001CA %016llX 00000000", priming,
                  static_cast<unsigned long long>(frames));
    return DecodeAll(WithItunesDelay(edited, text)).samples;
  };
  const std::vector<float> trimmed = with_delay("00000400", length);
  CHECK(static_cast<double>(trimmed.size()) == doctest::Approx(count).epsilon(1 / count));
  CHECK(std::equal(samples.begin(), samples.end() - 100, trimmed.begin()));
  CHECK(static_cast<double>(with_delay("00000400", length - 4410).size()) ==
        doctest::Approx(count - 1600).epsilon(1 / count));
  const double untrimmed = count + std::floor(1024 * 16'000 / 44'100.0);
  CHECK(static_cast<double>(with_delay("00000000", 0).size()) >= untrimmed);
  for (const char* wrong : {"00004000", "priming"})
    CHECK(static_cast<double>(with_delay(wrong, length).size()) >= untrimmed);
  // At 8 kHz the delay is longer than the jump of timestamps that stands for missing audio.
  CHECK(DecodeAll(Corpus("mp4/itunes.m4a")).samples.size() == 4096);
}

TEST_CASE("the samples of a RIFX file are big-endian") {
  const std::vector<float> sine = Sine(500, 16000, 16000, 0.5);
  const Bytes little = Wav16(16000, 1, sine);
  Bytes big = little;
  big[3] = 'X';
  for (const size_t at : {size_t{4}, size_t{16}, size_t{24}, size_t{28}, size_t{40}}) {
    std::reverse(big.begin() + static_cast<std::ptrdiff_t>(at),
                 big.begin() + static_cast<std::ptrdiff_t>(at + 4));
  }
  for (const size_t at : {size_t{20}, size_t{22}, size_t{32}, size_t{34}}) std::swap(big[at], big[at + 1]);
  for (size_t at = 44; at + 1 < big.size(); at += 2) std::swap(big[at], big[at + 1]);
  const Audio audio = DecodeAll(big);
  CHECK(audio.samples == DecodeAll(little).samples);
  CHECK(audio.source.codec == "pcm_s16be");
}

// As sox writes them: an extensible format chunk, every number of it the other way round.
TEST_CASE("a RIFX file may have an extensible format and 24 bits") {
  const Bytes head =
      FromText(std::string("RIFX\0\0\0\x54WAVEfmt \0\0\0\x28\xFF\xFE\0\1\0\0\x3E\x80\0\0\xBB\x80\0\3\0\x18"
                           "\0\x16\0\x18\0\0\0\4\0\1\0\0\0\0\x10\0\x80\0\0\xAA\0\x38\x9B\x71"
                           "data\0\0\0\6",
                           68));
  Bytes file = head;
  for (const uint8_t byte : {0x40, 0, 0, 0xC0, 0, 0}) file.push_back(byte);
  const Audio audio = DecodeAll(file);
  CHECK(audio.samples == std::vector<float>{0.5F, -0.5F});
  CHECK(audio.source.codec == "pcm_s24be");
}

TEST_CASE("channels are averaged, or one is selected") {
  std::vector<float> left = Sine(500, 16000, 16000, 0.5);
  std::vector<float> stereo(32000);
  for (size_t i = 0; i < 16000; ++i) {
    stereo[2 * i] = left[i];
    stereo[2 * i + 1] = -0.5F * left[i];
  }
  const Bytes wav = WavFloat(16000, 2, stereo);
  DecodeOptions options = Limits();
  const Audio mixed = DecodeAll(wav);
  CHECK(mixed.samples[100] == doctest::Approx(0.25F * left[100]));
  CHECK(mixed.source.channel_correlation == doctest::Approx(-1));
  options.channel = 1;
  CHECK(DecodeAll(wav, options).samples[100] == doctest::Approx(-0.5F * left[100]));
  options.channel = 2;
  CHECK(ErrorOf(wav, options) == "channel: Expected a channel of 0 to 1 for `channel`, got 2");
  CHECK(ErrorOf(WavFloat(16000, 1, left), options) ==
        "channel: Expected 0, the only channel, for `channel`, got 2");
}

TEST_CASE("correlation separates one voice from two and ignores silence") {
  const std::vector<float> a = Sine(500, 16000, 16000, 0.5);
  const std::vector<float> b = Sine(730, 16000, 16000, 0.5);
  std::vector<float> two(32000);
  std::vector<float> dead(32000);
  for (size_t i = 0; i < 16000; ++i) {
    two[2 * i] = dead[2 * i] = a[i];
    two[2 * i + 1] = b[i];
  }
  CHECK(std::abs(DecodeAll(Wav16(16000, 2, two)).source.channel_correlation) < 0.01);
  CHECK(DecodeAll(Wav16(16000, 2, dead)).source.channel_correlation == 1);
}

TEST_CASE("clipping counts samples in runs of three at full scale") {
  std::vector<float> samples(10000, 0.1F);
  for (size_t i = 4094; i < 4104; ++i) samples[i] = 1;  // across a block's edge
  samples[50] = samples[51] = 1;                        // too short
  for (size_t i = 60; i < 63; ++i) samples[i] = -1;
  CHECK(DecodeAll(Wav16(16000, 1, samples)).source.clipped_ratio == doctest::Approx(13 / 10000.0));
  CHECK(DecodeAll(WavOf(1, 8, 16000, 1, Bytes(1000, 255))).source.clipped_ratio == 1);
  CHECK(DecodeAll(WavOf(7, 8, 16000, 1, Bytes(1000, 0x80))).source.clipped_ratio == 1);
  CHECK(DecodeAll(WavOf(6, 8, 16000, 1, Bytes(1000, 0xAA))).source.clipped_ratio == 1);
}

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
