#include <doctest/doctest.h>

#include "decode/decode.h"
#include "support/audio_files.h"
#include "support/mp4_files.h"

namespace undertone {
namespace {

using namespace test;

// The decoded track as "INDEX/COUNT CODEC", and its seconds.
struct Track {
  std::string name;
  double seconds;
  bool truncated;
};

Track DecodeTrack(const Bytes& bytes, int track = -1) {
  DecodeOptions options = Limits();
  options.track = track;
  const Audio audio = Decode(bytes.data(), bytes.size(), options);
  const Source& source = audio.source;
  return {std::to_string(source.track) + "/" + std::to_string(source.tracks) + " " + source.codec,
          static_cast<double>(audio.samples.size()) / audio.sample_rate, source.truncated};
}

std::string ErrorOfTrack(const Bytes& bytes, int track) {
  DecodeOptions options = Limits();
  options.track = track;
  return ErrorOf(bytes, options);
}

TEST_CASE("the track that the file marks as default is decoded, else the first that decodes") {
  const double speech = DecodeTrack(Fixture("speech.wav")).seconds;
  const std::pair<const char*, const char*> files[] = {{"tracks-default.mkv", "1/2 opus"},
                                                       {"tracks-disabled.m4a", "1/2 alac"},
                                                       {"tracks-ac3.mp4", "1/2 alac"},
                                                       {"tracks-empty.mkv", "1/2 flac"},
                                                       {"tracks.ogg", "0/2 opus"},
                                                       {"video.mp4", "0/1 aac"},
                                                       {"speech.wav", "0/1 pcm_s16le"}};
  for (const auto& [given, name] : files) {
    const char* file = given;
    CAPTURE(file);
    const Track track = DecodeTrack(Fixture(file));
    CHECK(track.name == name);
    CHECK(track.seconds == doctest::Approx(speech).epsilon(0.01));
    CHECK_FALSE(track.truncated);
  }
}

TEST_CASE("a chosen track is decoded alone, whatever the others last") {
  const std::pair<const char*, int> files[] = {
      {"tracks-default.mkv", 0}, {"tracks-disabled.m4a", 0}, {"tracks.ogg", 1}};
  for (const auto& [given, index] : files) {
    const char* file = given;
    CAPTURE(file);
    const Track track = DecodeTrack(Fixture(file), index);
    CHECK(track.name.substr(0, 3) == std::to_string(index) + "/2");
    CHECK(track.seconds == doctest::Approx(1).epsilon(0.05));
    CHECK_FALSE(track.truncated);
  }
}

TEST_CASE("an error about a track names the tracks of the file") {
  CHECK(ErrorOfTrack(Fixture("tracks-default.mkv"), 2) ==
        "track: Expected a track of 0 to 1 for `track`, got 2: 0 is opus, 1 channel, deu; 1 is opus, 2 channels");
  CHECK(ErrorOfTrack(Fixture("tracks-ac3.mp4"), 0) ==
        "unsupported: Expected a supported codec, got ac3: 0 is ac3, 1 channel, fra; 1 is alac, 2 channels");
  CHECK(ErrorOfTrack(Fixture("tracks-ac3.mp4"), 7).substr(0, 53) ==
        "track: Expected a track of 0 to 1 for `track`, got 7:");
  for (const char* name : {"speech.wav", "cbr.mp3", "opus.ogg", "opus.webm", "aac.m4a", "video.mp4"}) {
    CAPTURE(name);
    CHECK(ErrorOfTrack(Fixture(name), 1) == "track: Expected 0, the only track, for `track`, got 1");
    CHECK(ErrorOfTrack(Fixture(name), 0).empty());
  }
  CHECK(ErrorOfTrack(Fixture("speech.wav"), -2).substr(0, 13) == "bad_argument:");
}

TEST_CASE("a track without samples, encrypted, or beyond the limits is left for the next") {
  const Bytes sound = SoundTrack("samr", 50, 1, 1);
  const Bytes data(50, 0x7C);
  CHECK(DecodeTrack(Mp4(data, {SoundTrack("samr", 0, 1, 1), sound})).name == "1/2 amr_nb");
  CHECK(DecodeTrack(Mp4(data, {SoundTrack("enca", 50, 1, 1), sound})).name == "1/2 amr_nb");
  Bytes disabled = sound;
  *(Find(&disabled, "tkhd") + 7) = 6;
  CHECK(DecodeTrack(Mp4(data, {disabled, sound})).name == "1/2 amr_nb");
  CHECK(DecodeTrack(Mp4(data, {disabled, disabled})).name == "0/2 amr_nb");
  CHECK(DecodeTrack(Mp4(data, {disabled, sound}), 0).name == "0/2 amr_nb");
  CHECK(ErrorOf(Mp4(data, {SoundTrack("enca", 50, 1, 1), SoundTrack("drms", 50, 1, 1)})) ==
        "unsupported: Expected unencrypted audio, got an encrypted 3gp file: 0 is an unknown codec, 1 channel, eng; 1 is "
        "an unknown codec, 1 channel, eng");
  DecodeOptions options = Limits();
  options.max_channels = 1;
  const Bytes film = Fixture("tracks.ogg");
  CHECK(Decode(film.data(), film.size(), options).source.codec == "vorbis");
}

// The header of a Matroska file has the duration of its longest track alone.
TEST_CASE("a short track of a file that is longer than the limit is decoded") {
  DecodeOptions options = Limits();
  options.max_seconds = 1.5;
  options.track = 0;
  CHECK(ErrorOf(Fixture("tracks-default.mkv"), options).empty());
  options.track = 1;
  CHECK(ErrorOf(Fixture("tracks-default.mkv"), options) == "too_long: Expected at most 1.5 s of audio, got more");
}

}  // namespace
}  // namespace undertone
