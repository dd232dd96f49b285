#pragma once

#include <time.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "decode.h"

namespace undertone {

// Deadline and cancellation of one decode, and how much work it may be. Used by the thread that decodes
// alone.
class Watch {
 public:
  explicit Watch(const DecodeOptions& options)
      : cancel_(options.cancel),
        seconds_(options.deadline_seconds),
        max_seconds_(options.max_seconds),
        start_(Clock::now()),
        worked_before_(Worked()) {}

  bool Cancelled() const { return cancel_ != nullptr && cancel_->load(std::memory_order_relaxed) != 0; }

  bool Late() const { return seconds_ > 0 && Elapsed() > seconds_; }

  // Honest files take a thousandth of this; others are built so that their tables never end.
  bool Laborious() const {
    const double allowed = patience_ + kPatienceASecond * heard_;
    return Elapsed() > allowed && Worked() - worked_before_ > allowed;
  }

  bool Stopped() const { return Cancelled() || Late() || Laborious(); }

  // Of sound that is allowed.
  double max_seconds() const { return max_seconds_; }

  // States how large the file is: larger ones may be more work.
  void Face(size_t bytes) { patience_ = kPatience + kPatienceAByte * static_cast<double>(bytes); }

  // How many seconds of sound have come so far.
  void Hear(double seconds) { heard_ = seconds; }

  void Check() const {
    if (Cancelled()) throw Error(ErrorCode::kCancelled, "Expected to decode to the end, got cancelled");
    if (Late()) {
      char text[96];
      std::snprintf(text, sizeof text, "Expected decoding to end within %g s, got no end by then", seconds_);
      throw Error(ErrorCode::kDeadline, text);
    }
    if (Laborious())
      throw Error(ErrorCode::kMalformed, "Expected work in proportion to the sound, got far more");
  }

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr double kPatience = 0.75;        // seconds of processor time for the smallest file
  static constexpr double kPatienceAByte = 1e-8;   // and for each byte,
  static constexpr double kPatienceASecond = 0.1;  // and for each second of sound

  double Elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // Seconds that this thread has had a processor.
  static double Worked() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }

  const std::atomic<int32_t>* cancel_;
  double seconds_;
  double max_seconds_;
  Clock::time_point start_;
  double worked_before_;
  double patience_ = kPatience;
  double heard_ = 0;
};

}  // namespace undertone
