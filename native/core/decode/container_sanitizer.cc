#include "decode/container_sanitizer.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "error.h"

namespace undertone {
namespace {

constexpr size_t kMostPatches = 1'000'000;  // 16 bytes each, and as much again to sort them

using Names = std::initializer_list<std::string_view>;

struct Chunks {
  size_t begin;         // of the first one
  size_t number_bytes;  // of a size
  bool big;             // the first byte of a size is its largest
  size_t alignment;
  Names shown;
  std::string_view samples;  // the chunk that holds them
  std::string_view other;    // what the rest is called then
};

uint64_t ReadNumber(const uint8_t* bytes, size_t count, bool big) {
  uint64_t number = 0;
  for (size_t i = 0; i < count; ++i) number = number << 8 | bytes[big ? i : count - 1 - i];
  return number;
}

bool IsName(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

// Up to what has no name: zeros behind the last chunk are none. A chunk that is cut is hidden, unless it
// holds the samples: libav would allocate what its size claims.
void VeilChunks(const uint8_t* bytes, size_t size, const Chunks& chunks, Veil* veil) {
  const size_t head = 4 + chunks.number_bytes;
  for (size_t at = chunks.begin; at + head <= size;) {
    const std::string_view name(reinterpret_cast<const char*>(bytes) + at, 4);
    if (!IsName(name)) return;
    const uint64_t content = ReadNumber(bytes + at + 4, chunks.number_bytes, chunks.big);
    const bool cut = content > size - at - head;
    const bool known = std::find(chunks.shown.begin(), chunks.shown.end(), name) != chunks.shown.end();
    if (!known || (cut && name != chunks.samples)) {
      for (size_t i = 0; i < 4; ++i) ShowByte(at + i, static_cast<uint8_t>(chunks.other[i]), veil);
    } else if (name == "pakt" && content >= 8) {
      veil->declared_packets = static_cast<double>(ReadNumber(bytes + at + head, 8, true));
    }
    if (cut) return;
    at += head + static_cast<size_t>(content);
    at += (chunks.alignment - at % chunks.alignment) % chunks.alignment;
  }
}

}  // namespace

void ShowByte(size_t at, uint8_t byte, Veil* veil) {
  if (veil->patches.size() == kMostPatches)
    throw Error(ErrorCode::kMalformed, "Expected mostly sound in the file, got a million things beside it");
  veil->patches.push_back({at, byte});
}

// Blocks after STREAMINFO become PADDING.
void VeilFlac(const uint8_t* bytes, size_t size, Veil* veil) {
  constexpr uint8_t kLast = 0x80;
  constexpr uint8_t kPadding = 1;
  size_t at = 4;
  bool last = false;
  while (!last && at + 4 <= size) {
    last = (bytes[at] & kLast) != 0;
    if ((bytes[at] & ~kLast) > kPadding)
      ShowByte(at, static_cast<uint8_t>((bytes[at] & kLast) | kPadding), veil);
    at += 4 + (size_t{bytes[at + 1]} << 16 | size_t{bytes[at + 2]} << 8 | bytes[at + 3]);
  }
}

Veil MakeVeil(const uint8_t* bytes, size_t size, Kind kind) {
  Veil veil{{}, size};
  const bool big = size > 3 && bytes[3] == 'X';  // RIFX
  if (kind == Kind::kWav)
    VeilChunks(bytes, size, {12, 4, big, 2, {"fmt ", "data", "ds64", "fact"}, "data", "JUNK"}, &veil);
  if (kind == Kind::kAiff)
    VeilChunks(bytes, size, {12, 4, true, 2, {"COMM", "SSND", "FVER", "wave"}, "SSND", "JUNK"}, &veil);
  if (kind == Kind::kCaf)
    VeilChunks(bytes, size, {8, 8, true, 1, {"desc", "data", "pakt", "kuki", "chan"}, "data", "free"}, &veil);
  if (kind == Kind::kFlac) VeilFlac(bytes, size, &veil);
  if (kind == Kind::kOgg) VeilOgg(bytes, size, &veil);
  if (kind == Kind::kMatroska) VeilMatroska(bytes, size, &veil);
  if (kind == Kind::kMp4) VeilMp4(bytes, size, &veil);
  std::stable_sort(veil.patches.begin(), veil.patches.end(),
                   [](const Patch& a, const Patch& b) { return a.at < b.at; });
  return veil;
}

}  // namespace undertone
