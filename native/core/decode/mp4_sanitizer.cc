#include <algorithm>
#include <cmath>
#include <string_view>

#include "decode/container_sanitizer.h"
#include "error.h"

namespace undertone {
namespace {

// A fragment or a reference to one takes libav a hundred bytes. One file in pieces of a packet each has 100 a
// second.
constexpr size_t kMostFragments = 200'000;

constexpr int kMaxDepth = 10;  // of boxes in boxes, as in libav

struct Box {
  std::string_view name;
  size_t at = 0;     // of the name
  size_t begin = 0;  // of the content
  size_t end = 0;
  bool cut = false;  // its size reaches past the end
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
  const bool cut = size > end - at;
  if (size == 0 || cut) size = end - at;
  if (size < head) return box;
  const std::string_view name(reinterpret_cast<const char*>(bytes) + at + 4, 4);
  return {name, at + 4, at + head, at + static_cast<size_t>(size), cut};
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

// Counts the entries of the index that libav builds from a track's tables and a fragment's runs. Most tracks
// have one for each sample. Tracks whose samples all last one tick of the clock, which is PCM, have one for
// 1024 samples of a chunk. Every edit may list all of them again.
class PacketCounter {
 public:
  explicit PacketCounter(const uint8_t* bytes) : bytes_(bytes) {}

  void Add(const Box& box, int depth = 0) {
    static constexpr std::string_view kContainers[] = {"trak", "mdia", "minf", "stbl", "edts",
                                                       "moof", "traf", "dinf", "wave", "udta"};
    if (std::find(std::begin(kContainers), std::end(kContainers), box.name) != std::end(kContainers)) {
      if (depth == kMaxDepth) return;
      EachBox(bytes_, box.begin, box.end, [&](const Box& inner) { Add(inner, depth + 1); });
      return;
    }
    if (box.name == "stsz" || box.name == "stz2") samples_ += ReadWord(box, 8);
    if (box.name == "stco" || box.name == "co64") chunks_ += ReadWord(box, 4);
    if (box.name == "trun") fragment_samples_ += ReadWord(box, 4);
    if (box.name == "elst") edits_ += ReadWord(box, 4);
    if (box.name == "stsc") runs_ = box;
    if (box.name == "stts") {
      ++durations_;
      if (ReadWord(box, 4) == 1 && ReadWord(box, 12) == 1) ++pcm_durations_;
    }
  }

  double Total() const {
    const bool pcm = durations_ > 0 && durations_ == pcm_durations_;
    const double listed = pcm ? PcmEntries() : samples_;
    return listed * std::max(edits_, 1.0) + fragment_samples_;
  }

 private:
  // Each run of chunks states its first chunk, counted from 1, and the samples of each of its chunks.
  double PcmEntries() const {
    const double runs = ReadWord(runs_, 4);
    double entries = 0;
    for (size_t at = 8; at + 12 <= runs_.end - runs_.begin && (at - 8) / 12 < runs; at += 12) {
      const bool last = (at - 8) / 12 + 1 >= runs;
      const double next = last ? chunks_ + 1 : ReadWord(runs_, at + 12);
      const double chunks = std::max(next - ReadWord(runs_, at), 0.0);
      entries += chunks * std::ceil(ReadWord(runs_, at + 4) / 1024);
    }
    return entries;
  }

  // A number of four bytes in the content of a box; 0 past its end.
  double ReadWord(const Box& box, size_t offset) const {
    if (box.end - box.begin < offset + 4) return 0;
    uint32_t word = 0;
    for (size_t i = 0; i < 4; ++i) word = word << 8 | bytes_[box.begin + offset + i];
    return word;
  }

  const uint8_t* bytes_;
  Box runs_;
  double samples_ = 0;
  double chunks_ = 0;
  double fragment_samples_ = 0;
  double edits_ = 0;
  int durations_ = 0;  // tables of durations
  int pcm_durations_ = 0;
};

// libav would allocate what the size of a cut box claims.
void ShowSize(const Box& box, Veil* veil) {
  const size_t start = box.at - 4;
  const size_t count = box.begin - start == 16 ? 8 : 4;
  const size_t at = count == 8 ? box.at + 4 : start;
  const uint64_t size = box.end - start;
  for (size_t i = 0; i < count; ++i)
    ShowByte(at + i, static_cast<uint8_t>(size >> 8 * (count - 1 - i)), veil);
}

// All other tracks; tags, pictures and keys of encryption.
void VeilMovie(const uint8_t* bytes, const Box& movie, PacketCounter* packets, Veil* veil) {
  const Box track = FindTrack(bytes, movie);
  packets->Add(track);
  EachBox(bytes, movie.begin, movie.end, [&](const Box& box) {
    const bool other = box.name == "trak" && box.at != track.at;
    if (other || box.name == "udta" || box.name == "meta" || box.name == "pssh") Hide(box, veil);
  });
}

}  // namespace

void VeilMp4(const uint8_t* bytes, size_t size, Veil* veil) {
  size_t fragments = 0;
  PacketCounter packets(bytes);
  EachBox(bytes, 0, size, [&](const Box& box) {
    if (box.cut && box.name != "mdat") ShowSize(box, veil);
    if (box.name == "moov") VeilMovie(bytes, box, &packets, veil);
    if (box.name == "moof") packets.Add(box);
    if (box.name == "sidx" || box.name == "udta" || box.name == "meta" || box.name == "pssh") Hide(box, veil);
    fragments += box.name == "moof" ? 1 : 0;
  });
  if (fragments > kMostFragments)
    throw Error(ErrorCode::kMalformed, "Expected at most 200000 fragments in the mp4 file, got more");
  veil->declared_packets = packets.Total();
}

}  // namespace undertone
