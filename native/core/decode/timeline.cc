#include "decode/timeline.h"

#include <algorithm>
#include <utility>

namespace undertone {

void Timeline::StartAt(double timestamp) {
  started_ = true;
  expected_ = timestamp;
}

double Timeline::MissingBefore(double timestamp, double duration) {
  if (!started_) StartAt(timestamp);
  const double jump = timestamp - expected_;
  expected_ = timestamp + duration;
  lag_ = jump < -kMaxLead ? 0 : std::max(lag_ + jump, -kMaxLead);
  const bool is_missing = lag_ > kTolerance && jump > kMinJump;
  const double missing = is_missing ? lag_ : 0;
  // The delay of an encoder is no lag.
  if (is_missing || !has_frames_) lag_ = 0;
  has_frames_ = true;
  return missing;
}

}  // namespace undertone
