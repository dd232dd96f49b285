#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "decode/decode.h"
#include "decode/file_decoder.h"

namespace undertone {

// Decodes a recording of any length in chunks, in memory independent of its length. The samples equal those
// of Decode. Deadline and CPU budget count time inside the calls.
class ChunkedDecoder {
 public:
  // Keeps pointers to `bytes` and `options.cancel`. `chunk_length`: samples per chunk, at least 1. Throws
  // what Decode throws.
  ChunkedDecoder(const uint8_t* bytes, size_t size, const DecodeOptions& options, size_t chunk_length);

  // Returns the next chunk: shorter at the end, empty after it. On an error returns the whole chunks decoded
  // before it first; then this and each later call throws what Decode throws.
  std::vector<float> Next();

  // Duration that the file declares, in seconds; 0: none.
  double declared_seconds() { return decoder_.sink().declared_seconds(); }

  // Complete once Next has returned an empty chunk.
  Source source() const { return decoder_.source(); }

 private:
  const size_t chunk_length_;
  FileDecoder decoder_;
  bool ended_ = false;
  std::exception_ptr failure_;
};

}  // namespace undertone
