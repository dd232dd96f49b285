#include "decode/track.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "error.h"

namespace undertone {

SelectedTrack SelectTrack(const std::vector<bool>& marked, const TrackChoice& choice) {
  const int count = static_cast<int>(marked.size());
  if (choice.index >= count) {
    const std::string expected =
        count == 1 ? "0, the only track," : "a track of 0 to " + std::to_string(count - 1);
    throw Error(ErrorCode::kTrack,
                "Expected " + expected + " for `track`, got " + std::to_string(choice.index));
  }
  if (choice.index >= 0) return {choice.index, count};
  std::vector<int> order(marked.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_partition(order.begin(), order.end(),
                        [&](int index) { return marked[static_cast<size_t>(index)]; });
  return {order[choice.rank], count};
}

}  // namespace undertone
