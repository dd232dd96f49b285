#include "decode/probe.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "decode/container.h"
#include "error.h"

namespace undertone {
namespace {

constexpr size_t kMaxLeadingJunkBytes = size_t{1} << 16;  // before the first frame of an MPEG or ADTS stream
constexpr size_t kTailBytes = size_t{1} << 16;            // in which the last frame is searched
constexpr int kMinConsecutiveFrames = 3;
constexpr size_t kFrameHeaderBytes = 7;

using Bytes = std::string_view;
using namespace std::string_view_literals;

bool Has(Bytes bytes, size_t offset, Bytes magic) {
  return bytes.size() >= offset + magic.size() && bytes.compare(offset, magic.size(), magic) == 0;
}

// Length of the ID3v2 tags at the start.
size_t Id3v2Length(const uint8_t* bytes, size_t size) {
  size_t at = 0;
  while (at + 10 <= size && std::memcmp(bytes + at, "ID3", 3) == 0) {
    const uint8_t* length = bytes + at + 6;
    if (((length[0] | length[1] | length[2] | length[3]) & 0x80) != 0) break;
    const size_t body =
        size_t{length[0]} << 21 | size_t{length[1]} << 14 | size_t{length[2]} << 7 | length[3];
    const size_t footer = (bytes[at + 5] & 0x10) != 0 ? 10 : 0;
    if (size - at < 10 + body + footer) return size;
    at += 10 + body + footer;
  }
  return at;
}

bool IsMp4(Bytes bytes) {
  static constexpr Bytes kBoxes[] = {"moov", "mdat", "wide", "free", "skip", "pnot"};
  static constexpr Bytes kImageBrands[] = {"hei", "hev", "mif", "msf", "avi"};
  const auto contains = [](const auto& list, Bytes name) {
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
  };
  if (bytes.size() < 12) return false;
  if (Has(bytes, 4, "ftyp")) return !contains(kImageBrands, bytes.substr(8, 3));
  // A text with "free" there would be a box of more than 512 MiB.
  return static_cast<uint8_t>(bytes[0]) < 0x20 && contains(kBoxes, bytes.substr(4, 4));
}

std::string Mp4Name(Bytes bytes) {
  if (!Has(bytes, 4, "ftyp") || Has(bytes, 8, "qt  ")) return "mov";
  return Has(bytes, 8, "3g") ? "3gp" : "mp4";
}

bool IsWav(Bytes bytes) {
  return (Has(bytes, 0, "RIFF") || Has(bytes, 0, "RIFX") || Has(bytes, 0, "RF64") || Has(bytes, 0, "BW64")) &&
         Has(bytes, 8, "WAVE");
}

std::optional<ProbeResult> FindContainer(Bytes bytes) {
  if (IsWav(bytes)) return {{ContainerFormat::kWav, "wav", 0}};
  if (Has(bytes, 0, "fLaC")) return {{ContainerFormat::kFlac, "flac", 0}};
  if (Has(bytes, 0, "OggS")) return {{ContainerFormat::kOgg, "ogg", 0}};
  if (Has(bytes, 0, "\x1A\x45\xDF\xA3")) {
    const bool webm = bytes.substr(0, 64).find("webm") != Bytes::npos;
    return {{ContainerFormat::kMatroska, webm ? "webm" : "matroska", 0}};
  }
  if (Has(bytes, 0, "FORM") && (Has(bytes, 8, "AIFF") || Has(bytes, 8, "AIFC")))
    return {{ContainerFormat::kAiff, "aiff", 0}};
  if (Has(bytes, 0, "caff")) return {{ContainerFormat::kCaf, "caf", 0}};
  if (Has(bytes, 0, "#!AMR\n") || Has(bytes, 0, "#!AMR-WB\n")) return {{ContainerFormat::kAmr, "amr", 0}};
  if (Has(bytes, 0, ".snd")) return {{ContainerFormat::kAu, "au", 0}};
  if (Has(bytes, 0, "riff\x2E\x91\xCF\x11") && Has(bytes, 24, "wave"))
    return {{ContainerFormat::kW64, "w64", 0}};
  if (IsMp4(bytes)) return {{ContainerFormat::kMp4, Mp4Name(bytes), 0}};
  return std::nullopt;
}

// Both return the length in bytes of the frame whose header is at `bytes`, kFrameHeaderBytes of them; 0: no
// header. ISO/IEC 11172-3 and 13818-3, 2.4.1.3; MPEG 2.5 has version bits 00. Layers II and III without free
// bit rates.
size_t MpegFrameLength(const uint8_t* bytes) {
  static constexpr uint16_t kBitRates[3][16] = {
      {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 0},  // version 1, layer II; kbit/s
      {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0},   // version 1, layer III
      {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0}};      // versions 2 and 2.5, both
  static constexpr uint32_t kSampleRates[3] = {44100, 48000, 32000};
  if (bytes[0] != 0xFF || (bytes[1] & 0xE0) != 0xE0) return 0;
  const int version = bytes[1] >> 3 & 3;  // 3: 1, 2: 2, 0: 2.5
  const int layer = bytes[1] >> 1 & 3;    // 1: III, 2: II
  const int rate_index = bytes[2] >> 2 & 3;
  if (version == 1 || (layer != 1 && layer != 2) || rate_index == 3) return 0;
  const int table = version != 3 ? 2 : layer == 2 ? 0 : 1;
  const uint32_t bit_rate = 1000U * kBitRates[table][bytes[2] >> 4];
  const uint32_t sample_rate = kSampleRates[rate_index] >> (version == 3 ? 0 : version == 2 ? 1 : 2);
  const uint32_t frame_samples = layer == 1 && version != 3 ? 576 : 1152;
  const uint32_t padding_bytes = bytes[2] >> 1 & 1;
  return bit_rate == 0 ? 0 : frame_samples / 8 * bit_rate / sample_rate + padding_bytes;
}

// ISO/IEC 13818-7, 6.2.
size_t AdtsFrameLength(const uint8_t* bytes) {
  if (bytes[0] != 0xFF || (bytes[1] & 0xF6) != 0xF0 || (bytes[2] >> 2 & 15) > 12) return 0;
  const size_t length = size_t{bytes[3] & 3U} << 11 | size_t{bytes[4]} << 3 | bytes[5] >> 5;
  return length < 7 ? 0 : length;
}

// ISO/IEC 14496-3, 1.7.2: a LOAS frame.
size_t LatmFrameLength(const uint8_t* bytes) {
  if (bytes[0] != 0x56 || (bytes[1] & 0xE0) != 0xE0) return 0;
  return 3 + (size_t{bytes[1] & 0x1FU} << 8 | bytes[2]);
}

// Whether at least kMinConsecutiveFrames consecutive frames start at `at`. At the start of the file fewer
// suffice if they extend to its end; after junk, such short runs occur by chance.
bool HasConsecutiveFrames(const uint8_t* bytes, size_t size, size_t at, bool at_start,
                          size_t (*length_of)(const uint8_t*)) {
  for (int frames = 0; frames < kMinConsecutiveFrames; ++frames) {
    if (at + kFrameHeaderBytes > size) return at_start && frames > 0;
    const size_t length = length_of(bytes + at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::optional<ProbeResult> FindFrames(const uint8_t* bytes, size_t size, size_t start) {
  const size_t end = std::min(size, start + kMaxLeadingJunkBytes);
  for (size_t at = start; at + kFrameHeaderBytes <= end; ++at) {
    if (bytes[at] != 0xFF) continue;
    if (HasConsecutiveFrames(bytes, size, at, at == start, MpegFrameLength))
      return {{ContainerFormat::kMp3, "mp3", at}};
    if (HasConsecutiveFrames(bytes, size, at, at == start, AdtsFrameLength))
      return {{ContainerFormat::kAdts, "adts", at}};
  }
  return std::nullopt;
}

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
    {0, "MACF"sv, "Monkey's Audio (APE)"},
    {0, "wvpk"sv, "a WavPack file"},
    {0, "NIST_1A\n"sv, "a NIST SPHERE file"},
    {0, "\2dss"sv, "a dictation file (DSS)"},
    {0, "\3dss"sv, "a dictation file (DSS)"},
    {0, "\1ds2"sv, "a dictation file (DS2)"},
    {0, "\3ds2"sv, "a dictation file (DS2)"},
    {0, "MPCK"sv, "a Musepack file"},
    {0, "MP+"sv, "a Musepack file"},
    {0, "DSD \x1C\0\0\0"sv, "DSD audio (DSF)"},
    {0, "FRM8"sv, "DSD audio (DSDIFF)"},
    {0, "TTA1"sv, "a True Audio file (TTA)"},
    {0, "tBaK"sv, "a TAK file"},
    {0, "OFR "sv, "an OptimFROG file"},
    {0, "ajkg"sv, "a Shorten file"},
    {0, "\x7F\xFE\x80\x01"sv, "DTS audio"},
    {0, ".ra\xFD"sv, "a RealAudio file"},
    {0, "Creative Voice File\x1A"sv, "a Creative Voice file (VOC)"},
    {0, "#!iLBC"sv, "an iLBC file"},
    {0, "#!SILK_V3"sv, "a SILK voice message"},
    {1, "#!SILK_V3"sv, "a SILK voice message"},
    {0, "#!EVS"sv, "an EVS file"},
    {0, "#!AMR_MC1.0\n"sv, "an AMR file of several channels"},
    {0, "#!AMR-WB_MC1.0\n"sv, "an AMR file of several channels"},
    {8, "QLCM"sv, "a QCELP file (QCP)"},
    {8, "8SVX"sv, "an 8SVX file"},
};
constexpr char kLatm[] = "AAC in a LATM stream";
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

// Printable ASCII, white space and sequences of UTF-8, of which the last may be cut. A-law is no text.
bool IsText(Bytes bytes) {
  int following = 0;  // bytes that the sequence still needs
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) {
      if (following-- == 0) return false;
      continue;
    }
    if (following > 0 || byte >= 0xF8 || byte == 0x7F) return false;
    if (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f') return false;
    following = byte < 0x80 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
  }
  return !bytes.empty();
}

// A recorder writes the header of a file into its first slice alone. Returns the container of a later one.
const char* FindSliceContainer(const uint8_t* bytes, size_t size) {
  const Bytes text(reinterpret_cast<const char*>(bytes), size);
  if (Has(text, 4, "moof") || Has(text, 4, "styp") || Has(text, 4, "sidx")) return "MP4";
  constexpr uint8_t kFirstPageFlag = 2;
  if (Has(text, 0, "OggS\0"sv) && size > 5 && (bytes[5] & kFirstPageFlag) == 0) return "Ogg";
  return nullptr;
}

void RejectSlice(const char* container) {
  if (container == nullptr) return;
  throw Error(ErrorCode::kMalformed, std::string("Expected a whole recording, got a slice of ") + container +
                                         " without its header: the first slice of the recorder is missing, "
                                         "send all slices joined in their order");
}

// Names common files that are not audio ("a PNG image"); empty for other bytes.
std::string IdentifyFileType(const uint8_t* bytes, size_t size) {
  Bytes start(reinterpret_cast<const char*>(bytes), std::min(size, size_t{512}));
  if (const char* name = FindSignature(start, kBinary)) return name;
  if (const char* name = FindSignature(start, kMedia)) return std::string(name) + kConvert;
  if (!IsText(start)) return IsTransportStream(start) ? std::string(kTransportStream) + kConvert : "";
  start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  const char* name = FindSignature(start, kText);
  return name != nullptr ? name : "text";
}

}  // namespace

bool EndsInsideFrame(const uint8_t* bytes, size_t size, ContainerFormat format) {
  const auto length_of = format == ContainerFormat::kMp3 ? MpegFrameLength : AdtsFrameLength;
  for (size_t at = size - std::min(size, kTailBytes); at + kFrameHeaderBytes <= size; ++at) {
    if (bytes[at] != 0xFF || !HasConsecutiveFrames(bytes, size, at, at == 0, length_of)) continue;
    size_t length = 1;
    while (at + kFrameHeaderBytes <= size && (length = length_of(bytes + at)) > 0) at += length;
    if (length > 0) return at > size || (at < size && bytes[at] == 0xFF);
  }
  return false;
}

bool HasDataBetweenFrames(const uint8_t* bytes, size_t size, ContainerFormat format) {
  const auto length_of = format == ContainerFormat::kMp3 ? MpegFrameLength : AdtsFrameLength;
  size_t at = 0;
  while (at + kFrameHeaderBytes <= size) {
    const size_t frame = length_of(bytes + at);
    const bool is_id3v1 = std::memcmp(bytes + at, "TAG", 3) == 0;
    const size_t length = frame > 0 ? frame : is_id3v1 ? 128 : Id3v2Length(bytes + at, size - at);
    if (length == 0) break;
    at += length;
  }
  if (at == 0) return false;
  for (; at + kFrameHeaderBytes <= size; ++at) {
    if (bytes[at] == 0xFF && HasConsecutiveFrames(bytes, size, at, false, length_of)) return true;
  }
  return false;
}

ProbeResult Probe(const uint8_t* bytes, size_t size) {
  if (size == 0) throw Error(ErrorCode::kEmpty, "Expected an audio file, got no bytes");
  const size_t start = Id3v2Length(bytes, size);
  RejectSlice(FindSliceContainer(bytes + start, size - start));
  if (auto result = FindContainer({reinterpret_cast<const char*>(bytes) + start, size - start})) {
    result->start = start;
    return *result;
  }
  std::string file_type = IdentifyFileType(bytes + start, size - start);
  if (file_type.empty() && HasConsecutiveFrames(bytes, size, start, true, LatmFrameLength))
    file_type = std::string(kLatm) + kConvert;
  if (auto result = file_type.empty() ? FindFrames(bytes, size, start) : std::nullopt) {
    result->skips_data = result->start > start;
    return *result;
  }
  if (file_type.empty() && IsMatroskaSlice(bytes + start, size - start)) RejectSlice("WebM");
  if (file_type.empty() && start > 0) throw Error(ErrorCode::kMalformed, "Expected audio after the ID3 tag, got none");
  if (file_type.empty())
    throw Error(ErrorCode::kUnknown, "Expected an audio file, got data of an unknown kind");
  throw Error(ErrorCode::kUnsupported, "Expected an audio file, got " + file_type);
}

}  // namespace undertone
