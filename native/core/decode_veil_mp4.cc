#include <string_view>

#include "decode_veil.h"
#include "error.h"

namespace undertone {
namespace {

// A fragment or a reference to one takes libav a hundred bytes. One file in pieces of a packet each has 100 a
// second.
constexpr size_t kMostFragments = 200'000;

struct Box {
  std::string_view name;
  size_t at = 0;     // of the name
  size_t begin = 0;  // of the content
  size_t end = 0;
};

// ISO/IEC 14496-12, 4.2: 0 reaches to the end, 1 has its size in eight bytes after the name.
Box ReadBox(const uint8_t* bytes, size_t at, size_t end) {
  Box box;
  if (end - at < 8) return box;
  uint64_t size = 0;
  for (size_t i = 0; i < 4; ++i) size = size << 8 | bytes[at + i];
  size_t head = 8;
  if (size == 1 && end - at >= 16) {
    head = 16;
    size = 0;
    for (size_t i = 8; i < 16; ++i) size = size << 8 | bytes[at + i];
  }
  if (size == 0 || size > end - at) size = end - at;
  if (size < head) return box;
  box = {
      {reinterpret_cast<const char*>(bytes) + at + 4, 4}, at + 4, at + head, at + static_cast<size_t>(size)};
  return box;
}

// Calls `take` with each box between two places.
template <typename Take>
void EachBox(const uint8_t* bytes, size_t begin, size_t end, Take take) {
  while (begin < end) {
    const Box box = ReadBox(bytes, begin, end);
    if (box.end == 0) return;
    take(box);
    begin = box.end;
  }
}

// The first box of that name, or one without an end.
Box FindBox(const uint8_t* bytes, const Box& in, std::string_view name) {
  Box found;
  EachBox(bytes, in.begin, in.end, [&](const Box& box) {
    if (found.end == 0 && box.name == name) found = box;
  });
  return found;
}

void Hide(const Box& box, Veil* veil) {
  constexpr std::string_view kFree = "free";
  for (size_t i = 0; i < kFree.size(); ++i) ShowByte(box.at + i, static_cast<uint8_t>(kFree[i]), veil);
}

bool IsSound(const uint8_t* bytes, const Box& track) {
  const Box media = FindBox(bytes, track, "mdia");
  const Box handler = FindBox(bytes, media, "hdlr");
  if (handler.end - handler.begin < 12) return false;
  return std::string_view(reinterpret_cast<const char*>(bytes) + handler.begin + 8, 4) == "soun";
}

// The first track with sound, or the first where none has any.
Box FindTrack(const uint8_t* bytes, const Box& movie) {
  Box first;
  Box sound;
  EachBox(bytes, movie.begin, movie.end, [&](const Box& box) {
    if (box.name != "trak" || sound.end != 0) return;
    if (first.end == 0) first = box;
    if (IsSound(bytes, box)) sound = box;
  });
  return sound.end != 0 ? sound : first;
}

// All other tracks; tags, pictures and keys of encryption.
void VeilMovie(const uint8_t* bytes, const Box& movie, Veil* veil) {
  const Box track = FindTrack(bytes, movie);
  EachBox(bytes, movie.begin, movie.end, [&](const Box& box) {
    const bool other = box.name == "trak" && box.at != track.at;
    if (other || box.name == "udta" || box.name == "meta" || box.name == "pssh") Hide(box, veil);
  });
}

}  // namespace

void VeilMp4(const uint8_t* bytes, size_t size, Veil* veil) {
  size_t fragments = 0;
  EachBox(bytes, 0, size, [&](const Box& box) {
    if (box.name == "moov") VeilMovie(bytes, box, veil);
    if (box.name == "sidx" || box.name == "udta" || box.name == "meta" || box.name == "pssh") Hide(box, veil);
    fragments += box.name == "moof" ? 1 : 0;
  });
  if (fragments > kMostFragments)
    throw Error(ErrorCode::kMalformed, "Expected at most 200000 fragments in the mp4 file, got more");
}

}  // namespace undertone
