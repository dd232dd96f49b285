#include "pieces.h"

#include <algorithm>
#include <utility>

namespace undertone {

Pieces::Pieces(const uint8_t* bytes, size_t size, const DecodeOptions& options, size_t length)
    : options_(options), length_(std::max<size_t>(length, 1)) {
  thread_ = std::thread([this, bytes, size] { Run(bytes, size); });
}

Pieces::~Pieces() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::vector<float> Pieces::Next() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return ended_ || !ready_.empty(); });
  if (failure_) std::rethrow_exception(failure_);
  std::vector<float> piece;
  piece.swap(ready_);
  changed_.notify_all();
  return piece;
}

void Pieces::Run(const uint8_t* bytes, size_t size) {
  std::exception_ptr failure;
  try {
    const Taker taker{[this](double seconds) { expected_seconds_ = seconds; },
                      [this](const std::vector<float>& samples) { Take(samples); }};
    source_ = DecodeTo(bytes, size, options_, taker);
    if (!filling_.empty()) HandOver();
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  ended_ = true;
  failure_ = failure;
  changed_.notify_all();
}

void Pieces::Take(const std::vector<float>& samples) {
  size_t at = 0;
  while (at < samples.size()) {
    filling_.reserve(length_);
    const size_t count = std::min(samples.size() - at, length_ - filling_.size());
    filling_.insert(filling_.end(), samples.data() + at, samples.data() + at + count);
    at += count;
    if (filling_.size() == length_) HandOver();
  }
}

void Pieces::HandOver() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return stopped_ || ready_.empty(); });
  if (stopped_) throw Error(ErrorCode::kCancelled, "Expected to decode to the end, got cancelled");
  ready_ = std::move(filling_);
  filling_.clear();
  changed_.notify_all();
}

}  // namespace undertone
