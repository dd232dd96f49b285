#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "decode/decode_budget.h"
#include "decode/probe.h"
#include "decode/track.h"

namespace undertone {

// A byte that libavformat reads instead of that of the file.
struct Patch {
  size_t at;
  uint8_t byte;
};

// What an encoder added around a recording, in frames of the stream.
struct EncoderDelay {
  int64_t priming = 0;  // before it
  int64_t length = 0;   // of the recording; 0: up to the end
};

// Byte patches that blank metadata before libavformat reads it: tags, pictures, chapters, indexes and unused
// tracks. libavformat searches some lists once per entry, in calls that cannot be interrupted, and holds
// others in forty times their size. docs/security.md has the measurement per part.
struct SanitizedContainer {
  std::vector<Patch> patches;  // sorted by offset
  double declared_packets =
      0;  // in the tables of MP4 and CAF, from which libavformat builds an index at once
  bool has_unread_data = false;  // another file, or other data, after the recording
  std::optional<SelectedTrack> track;  // of MP4: the audio track that is left
  bool masked_tracks = false;
  std::optional<EncoderDelay> delay;  // of MP4 by iTunes without an edit list
};

// Throws kMalformed for metadata over the limits, kTrack, and what the budget throws.
SanitizedContainer SanitizeContainer(const uint8_t* bytes, size_t size, ContainerFormat format,
                                     const TrackChoice& choice, const DecodeBudget& budget);

// The rest is for the files of single containers, which SanitizeContainer calls.

void SanitizeOgg(const uint8_t* bytes, size_t size, const DecodeBudget& budget,
                 SanitizedContainer* sanitized);
void SanitizeMatroska(const uint8_t* bytes, size_t size, SanitizedContainer* sanitized);
void SanitizeMp4(const uint8_t* bytes, size_t size, const TrackChoice& choice, SanitizedContainer* sanitized);

// Turns a metadata block of FLAC after STREAMINFO into PADDING (RFC 9639, 8). Returns the offset of the next.
size_t PadFlacBlock(const uint8_t* bytes, size_t at, SanitizedContainer* sanitized);

// Replaces a byte. Throws kMalformed where the patches would take too much memory.
void AddPatch(size_t at, uint8_t byte, SanitizedContainer* sanitized);

}  // namespace undertone
