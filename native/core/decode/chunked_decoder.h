#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "decode/decode.h"
#include "decode/file_decoder.h"

namespace undertone {

// Decodes a recording of any length in chunks, each on the thread that calls Next, in memory that does not
// grow with the recording. The samples are those of Decode. Deadline and CPU budget count time inside the
// calls.
class ChunkedDecoder {
 public:
  // Opens the recording. Keeps pointers to `bytes` and to `options.cancel`. `chunk_length`: samples of a
  // chunk, at least 1. Throws what Decode throws.
  ChunkedDecoder(const uint8_t* bytes, size_t size, const DecodeOptions& options, size_t chunk_length);

  // Returns the next chunk: fewer samples at the end, none after it. When decoding fails, whole chunks
  // decoded before are returned first; then this and each later call throws what Decode throws.
  std::vector<float> Next();

  // Duration that the file declares for what is open; 0 when it declares none.
  double declared_seconds() { return decoder_.sink()->declared_seconds(); }

  // Complete once Next has returned no samples.
  Source source() const { return decoder_.source(); }

 private:
  const size_t chunk_length_;
  FileDecoder decoder_;
  bool ended_ = false;
  std::exception_ptr failure_;
};

}  // namespace undertone
