#include "decode/memory_reader.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

extern "C" {
#include <libavformat/avio.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
}

namespace undertone {
namespace {

constexpr int kBufferBytes = 2048;  // between two checks of the budget

// Applies the patches for the `count` bytes of the file from `at`.
void ApplyPatches(const std::vector<Patch>& patches, size_t at, uint8_t* to, size_t count) {
  auto patch = std::lower_bound(patches.begin(), patches.end(), at,
                                [](const Patch& one, size_t offset) { return one.at < offset; });
  for (; patch != patches.end() && patch->at < at + count; ++patch) to[patch->at - at] = patch->byte;
}

}  // namespace

MemoryReader::MemoryReader(const uint8_t* bytes, size_t size, std::vector<Patch> patches,
                           const DecodeBudget& budget)
    : bytes_(bytes), size_(static_cast<int64_t>(size)), patches_(std::move(patches)), budget_(budget) {
  auto* buffer = static_cast<uint8_t*>(av_malloc(kBufferBytes));
  if (buffer == nullptr) throw std::bad_alloc();
  context_ = avio_alloc_context(buffer, kBufferBytes, 0, this, Read, nullptr, Seek);
  if (context_ != nullptr) return;
  av_free(buffer);
  throw std::bad_alloc();
}

MemoryReader::~MemoryReader() {
  av_freep(&context_->buffer);
  avio_context_free(&context_);
}

int MemoryReader::Read(void* opaque, uint8_t* to, int count) {
  auto* reader = static_cast<MemoryReader*>(opaque);
  if (reader->budget_.ShouldStop()) return AVERROR_EXIT;
  const int64_t copied = std::min<int64_t>(count, reader->size_ - reader->position_);
  if (copied <= 0) return AVERROR_EOF;
  std::memcpy(to, reader->bytes_ + reader->position_, static_cast<size_t>(copied));
  ApplyPatches(reader->patches_, static_cast<size_t>(reader->position_), to, static_cast<size_t>(copied));
  reader->position_ += copied;
  return static_cast<int>(copied);
}

int64_t MemoryReader::Seek(void* opaque, int64_t offset, int whence) {
  auto* reader = static_cast<MemoryReader*>(opaque);
  const int from = whence & ~AVSEEK_FORCE;
  if (from == AVSEEK_SIZE) return reader->size_;
  if (from != SEEK_SET && from != SEEK_CUR && from != SEEK_END) return AVERROR(EINVAL);
  const int64_t base = from == SEEK_SET ? 0 : from == SEEK_CUR ? reader->position_ : reader->size_;
  if (offset < -base || offset > reader->size_ - base) return AVERROR(EINVAL);
  reader->position_ = base + offset;
  return reader->position_;
}

}  // namespace undertone
