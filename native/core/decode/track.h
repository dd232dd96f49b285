#pragma once

#include <cstddef>
#include <vector>

namespace undertone {

constexpr int kMaxStreams = 64;  // of a file, those of video and subtitles included

// Which audio track of a file is read. Tracks are counted from 0; those of video and subtitles do not count.
struct TrackChoice {
  int index = -1;   // -1: by `rank`
  size_t rank = 0;  // place in the order of preference: tracks that the file marks as default come first
};

struct SelectedTrack {
  int index = 0;
  int count = 1;  // audio tracks of the file
};

// `marked`: for each audio track, at least one, whether the file marks it as default. `choice.rank` is below
// their number. Throws kTrack for an index beyond them.
SelectedTrack SelectTrack(const std::vector<bool>& marked, const TrackChoice& choice);

}  // namespace undertone
