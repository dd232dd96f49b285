#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/container_sanitizer.h"
#include "decode/decode_budget.h"

struct AVIOContext;

namespace undertone {

// Bytes in memory as libav reads a file, behind a veil. Every read checks the budget. Holds one small buffer.
class MemoryFile {
 public:
  MemoryFile(const uint8_t* bytes, Veil veil, const DecodeBudget& budget);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  AVIOContext* context() const { return context_; }

 private:
  static int Read(void* opaque, uint8_t* to, int count);
  static int64_t Seek(void* opaque, int64_t offset, int whence);

  const uint8_t* bytes_;
  const Veil veil_;
  int64_t size_;
  int64_t at_ = 0;
  const DecodeBudget& budget_;
  AVIOContext* context_;
};

}  // namespace undertone
