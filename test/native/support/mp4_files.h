#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/audio_files.h"

namespace undertone::test {

// Big-endian.
Bytes Number(uint64_t value, size_t count);
Bytes Words(const std::vector<uint32_t>& values);

Bytes Box(const std::string& name, const std::vector<Bytes>& inner);

// `count` samples of `size` bytes and `ticks` of the clock of 8 kHz, in so many chunks that begin at the same
// place.
Bytes SoundTrack(const std::string& codec, uint32_t count, uint32_t size, uint32_t chunks,
                 uint32_t ticks = 160);

// The track with an edit list of this content.
Bytes WithEdits(const Bytes& track, const Bytes& list);

// An MP4 with its samples first.
Bytes Mp4(const Bytes& data, const std::vector<Bytes>& tracks);
const Bytes& Mp4Type();

}  // namespace undertone::test
