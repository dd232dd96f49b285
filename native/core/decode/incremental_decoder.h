#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "decode/decode.h"
#include "decode/file_decoder.h"

namespace undertone {

// Decodes a recording of any length in blocks, in memory independent of its length. The samples equal those
// of Decode. Deadline and CPU budget count time inside the calls.
class IncrementalDecoder {
 public:
  // Keeps pointers to `bytes` and `options.cancel`. `max_samples`: samples per call, at least 1. Throws
  // what Decode throws.
  IncrementalDecoder(const uint8_t* bytes, size_t size, const DecodeOptions& options, size_t max_samples);

  // Returns the next samples: fewer at the end, none after it; with kEachOfTwoChannels those of the first
  // channel, then as many of the second. If decoding fails, the calls first return the
  // complete blocks before the error; the next call and every later one throw what Decode throws.
  std::vector<float> Next();

  // Whether Next has returned all samples. False after samples before an error.
  bool ended();

  // Duration that the file declares, in seconds; 0: none.
  double declared_seconds() { return decoder_.sink().declared_seconds(); }

  // Complete once ended.
  Source source() const { return decoder_.source(); }

 private:
  const size_t max_samples_;
  FileDecoder decoder_;
  bool ended_ = false;
  std::exception_ptr failure_;
};

}  // namespace undertone
