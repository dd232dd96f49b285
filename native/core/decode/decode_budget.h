#pragma once

#include <time.h>

#include "decode/decode.h"

namespace undertone {

// Cancellation, deadline and CPU budget of one decode. The clocks run from the constructor or Resume to
// Pause, on the same thread: time between the calls of an IncrementalDecoder does not count.
class DecodeBudget {
 public:
  explicit DecodeBudget(const DecodeOptions& options)
      : cancel_(options.cancel),
        deadline_seconds_(options.deadline_seconds),
        max_seconds_(options.max_seconds) {
    Resume();
  }

  void Resume() {
    wall_start_ = WallTime();
    cpu_start_ = ThreadCpuTime();
  }

  void Pause() {
    wall_seconds_ += WallTime() - wall_start_;
    cpu_seconds_ += ThreadCpuTime() - cpu_start_;
  }

  bool Cancelled() const { return cancel_ != nullptr && cancel_->load(std::memory_order_relaxed) != 0; }

  bool DeadlineExceeded() const { return deadline_seconds_ > 0 && Elapsed() > deadline_seconds_; }

  // Normal files use up to 3 % of the budget. The wall clock is read first because it is cheaper.
  bool CpuBudgetExceeded() const {
    const double budget = CpuBudget();
    return Elapsed() > budget && cpu_seconds_ + ThreadCpuTime() - cpu_start_ > budget;
  }

  bool ShouldStop() const { return Cancelled() || DeadlineExceeded() || CpuBudgetExceeded(); }

  // The longest audio that the caller accepts.
  double max_seconds() const { return max_seconds_; }

  void SetInputSize(size_t bytes) { input_bytes_ = static_cast<double>(bytes); }

  void SetDecodedSeconds(double seconds) { decoded_seconds_ = seconds; }

  // Throws kCancelled, kDeadline or kTooComplex once the decode has to stop.
  void Check() const {
    if (Cancelled()) throw Error(ErrorCode::kCancelled, "Decoding was cancelled");
    if (DeadlineExceeded()) {
      throw Error(ErrorCode::kDeadline,
                  "Decoding did not finish within " + FormatNumber(deadline_seconds_) + " s");
    }
    if (CpuBudgetExceeded()) {
      throw Error(ErrorCode::kTooComplex,
                  "Decoding needs too much CPU time for the size and duration of the audio");
    }
  }

 private:
  static constexpr double kMinCpuSeconds = 0.75;
  static constexpr double kCpuSecondsPerByte = 1e-8;
  static constexpr double kCpuSecondsPerDecodedSecond = 0.1;

  static double ReadClock(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }

  static double WallTime() { return ReadClock(CLOCK_MONOTONIC); }
  static double ThreadCpuTime() { return ReadClock(CLOCK_THREAD_CPUTIME_ID); }

  double CpuBudget() const {
    return kMinCpuSeconds + kCpuSecondsPerByte * input_bytes_ +
           kCpuSecondsPerDecodedSecond * decoded_seconds_;
  }

  double Elapsed() const { return wall_seconds_ + WallTime() - wall_start_; }

  const std::atomic<int32_t>* cancel_;
  double deadline_seconds_;
  double max_seconds_;
  double input_bytes_ = 0;
  double decoded_seconds_ = 0;
  double wall_seconds_ = 0;  // before the last Resume
  double cpu_seconds_ = 0;
  double wall_start_ = 0;
  double cpu_start_ = 0;
};

// Resumes a budget for the lifetime of the object.
class BudgetScope {
 public:
  explicit BudgetScope(DecodeBudget* budget) : budget_(budget) { budget_->Resume(); }
  ~BudgetScope() { budget_->Pause(); }
  BudgetScope(const BudgetScope&) = delete;
  BudgetScope& operator=(const BudgetScope&) = delete;

 private:
  DecodeBudget* budget_;
};

}  // namespace undertone
