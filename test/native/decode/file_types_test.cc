#include <doctest/doctest.h>

#include <libavcodec/version.h>

#include <algorithm>
#include <utility>

#include "support/audio_files.h"

namespace undertone {
namespace {

using namespace test;

TEST_CASE("the error names common files that are not audio") {
  const std::pair<Bytes, const char*> files[] = {
      {FromText("\x89PNG\r\n\x1A\n0000IHDR"), "a PNG image"},
      {FromText("%PDF-1.7\n"), "a PDF document"},
      {FromText("PK\3\4...."), "a zip archive"},
      {FromText("Hello, world\n"), "text"},
      {FromText("Guten Morgen, \xC3\x9C\xC3"), "text"},
      {FromText("#EXTM3U\nfile:///etc/passwd\n"), "text"},
      {FromText("The free lunch\n"), "text"},
      {FromText("{\"samples\": []}"), "JSON text"},
      {FromText({"\0\0\0\x18"
                 "ftypheic",
                 12}),
       "a HEIF image"},
      {FromText("<!DOCTYPE html><html>"), "HTML text"},
  };
  for (const auto& file : files)
    CHECK(ErrorOf(file.first) == std::string("unsupported: Expected an audio file, got ") + file.second);
  CHECK(ErrorOf(Bytes(4000, 0xD5)) == "unknown: Expected an audio file, got data of an unknown kind");
  CHECK(ErrorOf(Bytes(4000, 0)) == "unknown: Expected an audio file, got data of an unknown kind");
  CHECK(ErrorOf({}) == "empty: Expected an audio file, got no bytes");
  CHECK(ErrorOf(Fixture("silent-film.mp4")) ==
        "unsupported: Expected an audio stream, got a video without one");
  CHECK(ErrorOf(Fixture("encrypted.mp4")) ==
        "unsupported: Expected unencrypted audio, got an encrypted stream");
}

// A LOAS frame of so many bytes.
Bytes Latm(uint8_t size) {
  Bytes frame(size, 0x20);
  frame[0] = 0x56;
  frame[1] = 0xE0;
  frame[2] = static_cast<uint8_t>(size - 3);
  return frame;
}

TEST_CASE("the error names recordings in containers that are not supported") {
  Bytes packets(3 * 188, 0xFF);
  Bytes blocks(3 * 192, 0xFF);
  for (size_t index = 0; index < 3; ++index) {
    packets[188 * index] = 'G';
    blocks[192 * index + 4] = 'G';
  }
  const std::pair<Bytes, const char*> files[] = {
      {packets, "an MPEG transport stream (TS)"},
      {blocks, "an MPEG transport stream (TS)"},
      {FromText({"FLV\1\4\0\0\0\x09", 9}), "a Flash video (FLV)"},
      {FromText("\x30\x26\xB2\x75\x8E\x66\xCF\x11\xA6\xD9"), "a WMA or WMV file (ASF)"},
      {FromText("RIFF....AVI LIST"), "an AVI video"},
      {FromText("NIST_1A\n   1024\nsample_coding -s4 pcm\n"), "a NIST SPHERE file"},
      {FromText("\2dss......"), "a dictation file (DSS)"},
      {FromText("\3ds2......"), "a dictation file (DS2)"},
      {FromText("MAC \x96\x0F"), "Monkey's Audio (APE)"},
      {FromText({"ID3\3\0\0\0\0\0\2..MAC \x96\x0F", 18}), "Monkey's Audio (APE)"},
      {FromText("MP+\x07......"), "a Musepack file"},
      {FromText("MPCKSH......"), "a Musepack file"},
      {FromText({"DSD \x1C\0\0\0\0\0\0\0", 12}), "DSD audio (DSF)"},
      {FromText("FRM8........DSD "), "DSD audio (DSDIFF)"},
      {FromText("\2#!SILK_V3"), "a SILK voice message"},
      {Join({Latm(40), Latm(33), Latm(50)}), "AAC in a LATM stream"},
  };
  for (const auto& file : files) {
    CHECK(ErrorOf(file.first) == std::string("unsupported: Expected an audio file, got ") + file.second +
                                     ", which is not supported: convert it to WAV, MP3, MP4, FLAC, Ogg or WebM");
  }
}

TEST_CASE("a later slice of a recorder is named") {
  const auto message = [](const char* container) {
    return std::string("malformed: Expected a whole recording, got a slice of ") + container +
           " without its header: the first slice of the recorder is missing, send all slices joined in their order";
  };
  const Bytes webm = Fixture("streamed.webm");
  const Bytes id = {0x1F, 0x43, 0xB6, 0x75};
  const Bytes cluster(std::search(webm.begin(), webm.end(), id.begin(), id.end()), webm.end());
  CHECK(ErrorOf(cluster) == message("WebM"));
  // From the first block on, and from the middle of one.
  const size_t block = static_cast<size_t>(std::find(cluster.begin(), cluster.end(), 0xA3) - cluster.begin());
  CHECK(ErrorOf(Bytes(cluster.begin() + static_cast<ptrdiff_t>(block), cluster.end())) == message("WebM"));
  CHECK(ErrorOf(Join({Bytes(cluster.end() - 100, cluster.end()), cluster})) == message("WebM"));
  Bytes mp4 = Fixture("fragmented.mp4");
  CHECK(ErrorOf(Bytes(Find(&mp4, "moof") - 4, mp4.end())) == message("MP4"));
  Bytes ogg = Fixture("opus.ogg");
  *(ogg.begin() + 5) = 0;
  CHECK(ErrorOf(ogg) == message("Ogg"));
}

TEST_CASE("a variant of a codec that is not decoded is named") {
  const std::string advice = ": convert it to WAV, MP3, AAC, FLAC or Opus";
  Bytes opus = Fixture("opus.webm");
  *(Find(&opus, "OpusHead") + 18) = 32;
  CHECK(ErrorOf(opus) == "unsupported: Expected a supported codec, got Opus with channel mapping family 32" + advice);
#if LIBAVCODEC_VERSION_INT < AV_VERSION_INT(61, 19, 0)  // FFmpeg 7.1 decodes it
  Bytes usac = Fixture("aac.m4a");
  // The specific configuration of AAC: tag 5, and its length in the last of 4 bytes.
  const Bytes tag = {5, 0x80, 0x80, 0x80};
  const auto config = std::search(usac.begin(), usac.end(), tag.begin(), tag.end()) + 5;
  *config = 0xF9;
  *(config + 1) = 0x40 | (*(config + 1) & 0x1F);
  CHECK(ErrorOf(usac) == "unsupported: Expected a supported codec, got xHE-AAC (USAC)" + advice);
#endif
  Bytes flac = Fixture("speech.flac");
  flac[20] |= 1;
  flac[21] |= 0xF0;
  CHECK(ErrorOf(flac) == "unsupported: Expected a supported codec, got 32-bit FLAC" + advice);
}

}  // namespace
}  // namespace undertone
