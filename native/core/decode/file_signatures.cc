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

constexpr Signature kSignatures[] = {
    {0, "\x89PNG\r\n"sv, "a PNG image"},
    {0, "\xFF\xD8\xFF"sv, "a JPEG image"},
    {0, "GIF8"sv, "a GIF image"},
    {8, "WEBP"sv, "a WebP image"},
    {4, "ftyphei"sv, "a HEIC image"},
    {4, "ftyphev"sv, "a HEIC image"},
    {4, "ftypmif1"sv, "a HEIF image"},
    {4, "ftypmsf1"sv, "a HEIF image"},
    {4, "ftypavi"sv, "an AVIF image"},
    {4, "ftypcrx "sv, "a raw image"},
    {4, "jP  \r\n"sv, "a JPEG 2000 image"},
    {4, "JXL \r\n"sv, "a JPEG XL image"},
    {0, "8BPS\0\1"sv, "a Photoshop image"},
    {0, "II*\0"sv, "a TIFF image"},
    {0, "MM\0*"sv, "a TIFF image"},
    {0, "%PDF"sv, "a PDF document"},
    {0, "PK\3\4"sv, "a zip archive"},
    {0, "PK\5\6"sv, "a zip archive"},
    {0, "\x1F\x8B"sv, "gzip data"},
    {0, "BZh"sv, "bzip2 data"},
    {0, "\xFD\x37zXZ\0"sv, "xz data"},
    {0, "7z\xBC\xAF"sv, "a 7z archive"},
    {0, "Rar!"sv, "a RAR archive"},
    {257, "ustar"sv, "a tar archive"},
    {0, "!<arch>\n"sv, "an ar archive"},
    {0, "070701"sv, "a cpio archive"},
    {0, "070702"sv, "a cpio archive"},
    {0, "070707"sv, "a cpio archive"},
    {0, "MSCF\0\0\0\0"sv, "a cabinet archive"},
    {0, "\x28\xB5\x2F\xFD"sv, "zstd data"},
    {0, "\4\x22\x4D\x18"sv, "lz4 data"},
    {0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, "an Office document"},
    {0, "\xD4\xC3\xB2\xA1"sv, "captured packets"},
    {0, "\n\r\r\n"sv, "captured packets"},
    {0, "\x7F\x45LF"sv, "a program"},
    {0, "MZ"sv, "a program"},
    {0, "SQLite format 3"sv, "an SQLite database"},
    {0, "MThd"sv, "a MIDI file"},
    {0, "\x30\x26\xB2\x75\x8E\x66\xCF\x11"sv, "a Windows Media file"},
    {8, "AVI "sv, "an AVI video"},
    {0, "FLV\1"sv, "a Flash video"},
    {0, "FWS"sv, "a Flash film"},
    {0, "CWS"sv, "a Flash film"},
    {0, "ZWS"sv, "a Flash film"},
    {0, "NSVf"sv, "a Nullsoft video"},
    {0, "\0\0\1\xBA"sv, "an MPEG program stream"},
    {0, "wvpk"sv, "a WavPack file"},
    {0, "MAC "sv, "a Monkey's Audio file"},
    {0, "DSD "sv, "a DSD file"},
    {0, "FRM8"sv, "a DSD file"},
    {0, "TTA1"sv, "a True Audio file"},
    {0, ".snd"sv, "a Sun audio file"},
    {0, ".RMF"sv, "a RealMedia file"},
    {0, "Creative Voice File"sv, "a Creative Voice file"},
    {0, "ADIF"sv, "an ADIF file"},
    {0, "\xFE\xFF\0"sv, "UTF-16 text"},
};

constexpr Signature kTexts[] = {
    {0, "#EXTM3U"sv, "a playlist"},  {0, "ffconcat"sv, "a playlist"},      {0, "[playlist]"sv, "a playlist"},
    {0, "<!doctype"sv, "HTML text"}, {0, "<!DOCTYPE html"sv, "HTML text"}, {0, "<html"sv, "HTML text"},
    {0, "<svg"sv, "an SVG image"},   {0, "<?xml"sv, "XML text"},
};

bool Matches(Bytes bytes, const Signature& signature) {
  return bytes.size() >= signature.offset + signature.magic.size() &&
         bytes.compare(signature.offset, signature.magic.size(), signature.magic) == 0;
}

bool IsTransportStream(Bytes bytes) {
  return bytes.size() > 376 && bytes[0] == 0x47 && bytes[188] == 0x47 && bytes[376] == 0x47;
}

bool IsWideText(Bytes bytes) {
  return bytes.size() > 3 && bytes.substr(0, 2) == "\xFF\xFE" && bytes[2] != 0 && bytes[3] == 0;
}

// Printable ASCII, white space and the bytes of UTF-8.
bool IsText(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 ? byte < 0xF8 && byte != 0x7F
                        : byte == '\t' || byte == '\n' || byte == '\r' || byte == '\f';
  });
}

// The audio formats whose own magic is printable.
bool IsAudioMagic(Bytes bytes) {
  static constexpr Bytes kMagics[] = {"RIFF", "RIFX", "RF64", "BW64", "fLaC",
                                      "OggS", "FORM", "caff", "#!AMR"};
  return std::any_of(std::begin(kMagics), std::end(kMagics),
                     [&](Bytes magic) { return bytes.substr(0, magic.size()) == magic; });
}

}  // namespace

std::string NameForeign(const uint8_t* bytes, size_t size) {
  Bytes start(reinterpret_cast<const char*>(bytes), std::min(size, size_t{512}));
  for (const Signature& signature : kSignatures) {
    if (Matches(start, signature)) return signature.name;
  }
  if (IsTransportStream(start)) return "an MPEG transport stream";
  if (IsWideText(start)) return "UTF-16 text";
  if (start.empty() || IsAudioMagic(start) || !IsText(start)) return "";
  start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  for (const Signature& text : kTexts) {
    if (Matches(start, text)) return text.name;
  }
  return "text";
}

}  // namespace undertone
