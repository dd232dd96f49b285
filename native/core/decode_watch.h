#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "decode.h"

namespace undertone {

// Deadline and cancellation of one decode.
class Watch {
 public:
  explicit Watch(const DecodeOptions& options)
      : cancel_(options.cancel), seconds_(options.deadline_seconds), start_(Clock::now()) {}

  bool Cancelled() const { return cancel_ != nullptr && cancel_->load(std::memory_order_relaxed) != 0; }

  bool Late() const {
    return seconds_ > 0 && std::chrono::duration<double>(Clock::now() - start_).count() > seconds_;
  }

  bool Stopped() const { return Cancelled() || Late(); }

  void Check() const {
    if (Cancelled()) throw Error(ErrorCode::kCancelled, "Expected to decode to the end, got cancelled");
    if (!Late()) return;
    char text[96];
    std::snprintf(text, sizeof text, "Expected decoding to end within %g s, got no end by then", seconds_);
    throw Error(ErrorCode::kDeadline, text);
  }

 private:
  using Clock = std::chrono::steady_clock;

  const std::atomic<int32_t>* cancel_;
  double seconds_;
  Clock::time_point start_;
};

}  // namespace undertone
