#include "decode/file_signatures.h"

#include <algorithm>
#include <string_view>

namespace undertone {
namespace {

using Bytes = std::string_view;
using namespace std::string_view_literals;

struct Signature {
  size_t offset;
  Bytes magic;
  const char* name;
};

constexpr Signature kBinary[] = {
    {0, "\x89PNG\r\n"sv, "a PNG image"},
    {0, "\xFF\xD8\xFF"sv, "a JPEG image"},
    {0, "GIF8"sv, "a GIF image"},
    {4, "ftyp"sv, "a HEIF image"},  // other brands are MP4
    {0, "%PDF"sv, "a PDF document"},
    {0, "PK\3\4"sv, "a zip archive"},  // also Office documents
    {0, "\x1F\x8B"sv, "gzip data"},
    {0, "MThd"sv, "a MIDI file"},
    // The rest may contain bare MPEG frames, which the probe would find.
    {257, "ustar"sv, "a tar archive"},
    {0, "!<arch>\n"sv, "an ar archive"},
    {0, "07070"sv, "a cpio archive"},
    {0, "\x28\xB5\x2F\xFD"sv, "zstd data"},
    {0, "\xD0\xCF\x11\xE0"sv, "an Office document"},
    {0, "FWS"sv, "a Flash film"},
};

// Recordings that nothing here reads.
constexpr Signature kMedia[] = {
    {8, "AVI "sv, "an AVI video"},
    {0, "\0\0\1\xBA"sv, "an MPEG program stream"},
    {0, "FLV\1"sv, "a Flash video (FLV)"},
    {0, "\x30\x26\xB2\x75\x8E\x66\xCF\x11"sv, "a WMA or WMV file (ASF)"},
    {0, ".RMF"sv, "a RealMedia file"},
    {0, "MAC "sv, "Monkey's Audio (APE)"},
    {0, "wvpk"sv, "a WavPack file"},
};
constexpr char kTransportStream[] = "an MPEG transport stream (TS)";
constexpr char kConvert[] = ", which is not supported: convert it to WAV, MP3, MP4, FLAC, Ogg or WebM";

constexpr Signature kText[] = {
    {0, "<!doctype"sv, "HTML text"}, {0, "<!DOCTYPE"sv, "HTML text"}, {0, "<html"sv, "HTML text"},
    {0, "<?xml"sv, "XML text"},      {0, "{"sv, "JSON text"},
};

template <size_t kCount>
const char* FindSignature(Bytes bytes, const Signature (&signatures)[kCount]) {
  for (const Signature& signature : signatures) {
    if (bytes.size() >= signature.offset &&
        bytes.substr(signature.offset, signature.magic.size()) == signature.magic)
      return signature.name;
  }
  return nullptr;
}

// ISO/IEC 13818-1: packets of 188 bytes, in M2TS files each after 4 more.
bool IsTransportStream(Bytes bytes) {
  const auto has_syncs = [bytes](size_t first, size_t length) {
    if (bytes.size() <= first + 2 * length) return false;
    return bytes[first] == 'G' && bytes[first + length] == 'G' && bytes[first + 2 * length] == 'G';
  };
  return has_syncs(0, 188) || has_syncs(4, 192);
}

// Printable ASCII, white space and the bytes of UTF-8.
bool IsText(Bytes bytes) {
  return !bytes.empty() && std::all_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 ? byte < 0xF8 && byte != 0x7F
                        : byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f';
  });
}

}  // namespace

std::string IdentifyFileType(const uint8_t* bytes, size_t size) {
  Bytes start(reinterpret_cast<const char*>(bytes), std::min(size, size_t{512}));
  if (const char* name = FindSignature(start, kBinary)) return name;
  if (const char* name = FindSignature(start, kMedia)) return std::string(name) + kConvert;
  if (!IsText(start)) return IsTransportStream(start) ? std::string(kTransportStream) + kConvert : "";
  start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  const char* name = FindSignature(start, kText);
  return name != nullptr ? name : "text";
}

}  // namespace undertone
