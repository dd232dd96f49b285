#pragma once

namespace undertone {

// Finds missing audio between decoded frames by their timestamps.
//
// Timestamps are not exact: Matroska rounds them to 1 ms, live recordings jitter by tens of milliseconds, and
// the clock of a recorder drifts. So the differences are added up, and audio is missing where the sum exceeds
// kTolerance at a frame that does not continue the one before.
class Timeline {
 public:
  // Sets the timestamp at which the audio begins, in seconds. Without a call the first frame sets it.
  void StartAt(double timestamp);
  bool started() const { return started_; }

  // Returns the seconds that are missing before a frame, 0 for none.
  double MissingBefore(double timestamp, double duration);

  // Adds a frame without a timestamp.
  void Skip(double duration) { expected_ += duration; }

 private:
  static constexpr double kTolerance = 0.1;
  static constexpr double kMinJump = 0.01;  // half a packet
  static constexpr double kMaxLead = 1;     // timestamps further back restart the clock

  bool started_ = false;
  bool has_frames_ = false;
  double expected_ = 0;  // timestamp of the end of the last frame
  double lag_ = 0;       // seconds by which the timestamps are ahead of the samples
};

}  // namespace undertone
