#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "decode/container.h"
#include "decode/decode_budget.h"

struct AVIOContext;

namespace undertone {

// An AVIOContext over bytes in memory, with patches applied. Every read checks the budget.
class MemoryReader {
 public:
  MemoryReader(const uint8_t* bytes, size_t size, std::vector<Patch> patches, const DecodeBudget& budget);
  ~MemoryReader();
  MemoryReader(const MemoryReader&) = delete;
  MemoryReader& operator=(const MemoryReader&) = delete;

  AVIOContext* context() const { return context_; }

 private:
  static int Read(void* opaque, uint8_t* to, int count);
  static int64_t Seek(void* opaque, int64_t offset, int whence);

  const uint8_t* bytes_;
  const int64_t size_;
  const std::vector<Patch> patches_;
  int64_t position_ = 0;
  const DecodeBudget& budget_;
  AVIOContext* context_;
};

}  // namespace undertone
