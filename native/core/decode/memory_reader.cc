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

constexpr int kBuffer = 2048;  // bytes between two checks of the budget

// Writes what is read instead of the file's own bytes from `at` on.
void ApplyPatches(const std::vector<Patch>& patches, size_t at, uint8_t* to, size_t count) {
  auto patch = std::lower_bound(patches.begin(), patches.end(), at,
                                [](const Patch& one, size_t place) { return one.at < place; });
  for (; patch != patches.end() && patch->at < at + count; ++patch) to[patch->at - at] = patch->byte;
}

}  // namespace

MemoryFile::MemoryFile(const uint8_t* bytes, Veil veil, const DecodeBudget& budget)
    : bytes_(bytes), veil_(std::move(veil)), size_(static_cast<int64_t>(veil_.size)), budget_(budget) {
  auto* buffer = static_cast<uint8_t*>(av_malloc(kBuffer));
  if (buffer == nullptr) throw std::bad_alloc();
  context_ = avio_alloc_context(buffer, kBuffer, 0, this, Read, nullptr, Seek);
  if (context_ != nullptr) return;
  av_free(buffer);
  throw std::bad_alloc();
}

MemoryFile::~MemoryFile() {
  av_freep(&context_->buffer);
  avio_context_free(&context_);
}

int MemoryFile::Read(void* opaque, uint8_t* to, int count) {
  auto* file = static_cast<MemoryFile*>(opaque);
  if (file->budget_.Stopped()) return AVERROR_EXIT;
  const int64_t given = std::min<int64_t>(count, file->size_ - file->at_);
  if (given <= 0) return AVERROR_EOF;
  std::memcpy(to, file->bytes_ + file->at_, static_cast<size_t>(given));
  ApplyPatches(file->veil_.patches, static_cast<size_t>(file->at_), to, static_cast<size_t>(given));
  file->at_ += given;
  return static_cast<int>(given);
}

int64_t MemoryFile::Seek(void* opaque, int64_t offset, int whence) {
  auto* file = static_cast<MemoryFile*>(opaque);
  const int from = whence & ~AVSEEK_FORCE;
  if (from == AVSEEK_SIZE) return file->size_;
  if (from != SEEK_SET && from != SEEK_CUR && from != SEEK_END) return AVERROR(EINVAL);
  const int64_t base = from == SEEK_SET ? 0 : from == SEEK_CUR ? file->at_ : file->size_;
  if (offset < -base || offset > file->size_ - base) return AVERROR(EINVAL);
  file->at_ = base + offset;
  return file->at_;
}

}  // namespace undertone
