#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "decode/decode.h"
#include "decode/decoder.h"
#include "decode/probe.h"
#include "decode/sink.h"

namespace undertone {

// Decodes a whole file of any supported format, step by step.
class FileDecoder {
 public:
  // Probes and opens the file. Keeps pointers to `bytes` and `options.cancel`. For `max_samples` see Sink.
  // Throws Error and std::bad_alloc, as Step does.
  FileDecoder(const uint8_t* bytes, size_t size, const DecodeOptions& options, size_t max_samples = 0);
  FileDecoder(const FileDecoder&) = delete;
  FileDecoder& operator=(const FileDecoder&) = delete;

  // Decodes the next frame or block into the sink. Returns false once the sink has the whole result.
  bool Step();

  Sink& sink() { return sink_; }
  // Complete once Step has returned false.
  Source source() const;

 private:
  void ThrowIfEmpty() const;

  Sink sink_;
  ProbeResult probe_;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace undertone
