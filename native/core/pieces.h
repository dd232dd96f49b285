#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "decode.h"

namespace undertone {

// A recording of any length, decoded piece by piece on a thread of its own that is at most two pieces ahead.
class Pieces {
 public:
  // Holds on to `bytes` and to what `options` points at. `length`: samples of a piece.
  Pieces(const uint8_t* bytes, size_t size, const DecodeOptions& options, size_t length);
  ~Pieces();
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  // The next samples, fewer at the end and none after it. Throws what the decode threw.
  std::vector<float> Next();

  // How long the recording claims to be; 0 when it does not say, or has not yet.
  double expected_seconds() const { return expected_seconds_; }

  // Whole after the last piece.
  const Source& source() const { return source_; }

 private:
  void Run(const uint8_t* bytes, size_t size);
  void Take(const std::vector<float>& samples);
  void HandOver();

  const DecodeOptions options_;
  const size_t length_;
  std::atomic<double> expected_seconds_{0};
  std::vector<float> filling_;  // of the decoding thread
  std::mutex mutex_;            // guards everything below
  std::condition_variable changed_;
  std::vector<float> ready_;
  bool ended_ = false;
  bool stopped_ = false;
  std::exception_ptr failure_;
  Source source_;
  std::thread thread_;
};

}  // namespace undertone
