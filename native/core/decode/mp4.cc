#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "decode/container.h"
#include "decode/container_sanitizer.h"
#include "error.h"

namespace undertone {
namespace {

// libavformat holds a fragment in about 100 bytes. A file with one packet per fragment has 100 per second.
constexpr size_t kMaxFragments = 200'000;

constexpr int kMaxDepth = 10;  // of nested boxes, as in libavformat

struct Box {
  std::string_view name;
  size_t name_at = 0;
  size_t begin = 0;  // of the content
  size_t end = 0;    // 0: no box
  bool is_cut = false;  // it declares more bytes than there are
};

template <size_t kCount>
bool IsOneOf(std::string_view name, const std::string_view (&names)[kCount]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// ISO/IEC 14496-12, 4.2: size 0 extends to the end; size 1 is followed by a size of 8 bytes after the name.
Box ReadBox(const uint8_t* bytes, size_t at, size_t end) {
  if (end - at < 8) return {};
  uint64_t size = ReadBigEndian(bytes + at, 4);
  const bool is_large = size == 1 && end - at >= 16;
  const size_t header = is_large ? 16 : 8;
  if (is_large) size = ReadBigEndian(bytes + at + 8, 8);
  const bool is_cut = size > end - at;
  if (size == 0 || is_cut) size = end - at;
  if (size < header) return {};
  const std::string_view name(reinterpret_cast<const char*>(bytes) + at + 4, 4);
  return {name, at + 4, at + header, at + static_cast<size_t>(size), is_cut};
}

template <typename Visit>
void ForEachBox(const uint8_t* bytes, size_t begin, size_t end, Visit visit) {
  while (begin < end) {
    const Box box = ReadBox(bytes, begin, end);
    if (box.end == 0) return;
    visit(box);
    begin = box.end;
  }
}

// The first child of that name.
Box FindBox(const uint8_t* bytes, const Box& parent, std::string_view name) {
  Box found;
  ForEachBox(bytes, parent.begin, parent.end, [&](const Box& box) {
    if (found.end == 0 && box.name == name) found = box;
  });
  return found;
}

// Big-endian, at an offset in a box's content; 0 past its end.
double ReadUint32(const uint8_t* bytes, const Box& box, size_t offset) {
  if (box.end - box.begin < offset + 4) return 0;
  return static_cast<double>(ReadBigEndian(bytes + box.begin + offset, 4));
}

// libavformat searches a box `free` for a movie, a box `skip` never.
void Mask(const Box& box, SanitizedContainer* sanitized) {
  constexpr std::string_view kSkip = "skip";
  for (size_t i = 0; i < kSkip.size(); ++i)
    AddPatch(box.name_at + i, static_cast<uint8_t>(kSkip[i]), sanitized);
}

// libavformat also reads movies and tracks inside other boxes, and compressed movies.
void RequireNoMovieInside(const uint8_t* bytes, const Box& box) {
  for (const char* name : {"moov", "trak", "cmov", "hoov"}) {
    if (memmem(bytes + box.begin, box.end - box.begin, name, 4) == nullptr) continue;
    throw Error(ErrorCode::kMalformed, "Expected movie and tracks at the top of the mp4 file, got a nested " +
                                           std::string(name) + " box");
  }
}

bool IsAudioTrack(const uint8_t* bytes, const Box& track) {
  const Box handler = FindBox(bytes, FindBox(bytes, track, "mdia"), "hdlr");
  if (handler.end - handler.begin < 12) return false;
  return std::string_view(reinterpret_cast<const char*>(bytes) + handler.begin + 8, 4) == "soun";
}

// ISO/IEC 14496-12, 8.3.2: players leave out a track that is not enabled.
bool IsEnabled(const uint8_t* bytes, const Box& track) {
  const Box header = FindBox(bytes, track, "tkhd");
  return header.end - header.begin >= 4 && (bytes[header.begin + 3] & 1) != 0;
}

// The chosen audio track, or the first track of a movie without one.
Box KeepTrack(const uint8_t* bytes, const Box& movie, const TrackChoice& choice,
              SanitizedContainer* sanitized) {
  size_t count = 0;
  Box first;
  std::vector<Box> audio;
  std::vector<bool> enabled;
  ForEachBox(bytes, movie.begin, movie.end, [&](const Box& box) {
    if (box.name != "trak") return;
    if (count++ == 0) first = box;
    if (!IsAudioTrack(bytes, box)) return;
    audio.push_back(box);
    enabled.push_back(IsEnabled(bytes, box));
  });
  sanitized->masked_tracks = count > 1;
  if (audio.empty()) return first;
  sanitized->track = SelectTrack(enabled, choice);
  return audio[static_cast<size_t>(sanitized->track->index)];
}

std::string TextOf(const uint8_t* bytes, const Box& box, size_t offset) {
  constexpr size_t kMaxText = 200;
  if (box.end - box.begin < offset) return {};
  const auto* text = reinterpret_cast<const char*>(bytes) + box.begin + offset;
  return std::string(text, std::min(kMaxText, box.end - box.begin - offset));
}

// iTunes writes the delay as hexadecimal text into the tag iTunSMPB: 0, priming, remainder, length. Like libavformat,
// does not trust a priming of 2^14 frames or more.
std::optional<EncoderDelay> ReadItunesDelay(const uint8_t* bytes, const Box& movie) {
  Box meta = FindBox(bytes, FindBox(bytes, movie, "udta"), "meta");
  if (meta.end - meta.begin < 4) return std::nullopt;
  meta.begin += 4;  // version and flags
  const Box list = FindBox(bytes, meta, "ilst");
  std::optional<EncoderDelay> delay;
  ForEachBox(bytes, list.begin, list.end, [&](const Box& item) {
    if (item.name != "----" || TextOf(bytes, FindBox(bytes, item, "name"), 4) != "iTunSMPB") return;
    unsigned priming = 0;
    unsigned long long length = 0;
    const std::string text = TextOf(bytes, FindBox(bytes, item, "data"), 8);
    const bool is_read = std::sscanf(text.c_str(), "%*x %x %*x %llx", &priming, &length) == 2;
    if (is_read && priming < 1 << 14 && length < 1ULL << 40)
      delay = {priming, static_cast<int64_t>(length)};
  });
  return delay;
}

// ISO/IEC 14496-12, 8.3.2, 8.4.2.
struct FragmentedTrack {
  double id;
  double ticks;  // per second
};

std::vector<FragmentedTrack> FragmentedTracks(const uint8_t* bytes, const Box& movie) {
  std::vector<FragmentedTrack> tracks;
  ForEachBox(bytes, movie.begin, movie.end, [&](const Box& box) {
    if (box.name != "trak" || tracks.size() == kMaxStreams) return;
    const Box header = FindBox(bytes, box, "tkhd");
    const Box media = FindBox(bytes, FindBox(bytes, box, "mdia"), "mdhd");
    if (header.end == header.begin || media.end == media.begin) return;
    const double id = ReadUint32(bytes, header, bytes[header.begin] == 1 ? 20 : 12);
    const double ticks = ReadUint32(bytes, media, bytes[media.begin] == 1 ? 20 : 12);
    if (ticks > 0) tracks.push_back({id, ticks});
  });
  return tracks;
}

// Duration of the longest track, in seconds (8.2.2); 0: unknown.
double MovieSeconds(const uint8_t* bytes, const Box& movie) {
  const Box header = FindBox(bytes, movie, "mvhd");
  if (header.end == header.begin) return 0;
  const bool is_long = bytes[header.begin] == 1;
  const double ticks = ReadUint32(bytes, header, is_long ? 20 : 12);  // per second
  const double high = is_long ? ReadUint32(bytes, header, 24) : 0;
  const double low = ReadUint32(bytes, header, is_long ? 28 : 16);
  const bool is_unknown = low == UINT32_MAX && (!is_long || high == UINT32_MAX);
  return ticks == 0 || is_unknown ? 0 : (high * 4294967296.0 + low) / ticks;
}

// Decode time of the first sample of a track in a fragment, in seconds (8.8.12).
std::optional<double> FragmentStart(const uint8_t* bytes, const Box& fragment,
                                    const std::vector<FragmentedTrack>& tracks) {
  const Box time = FindBox(bytes, fragment, "tfdt");
  if (time.end == time.begin) return std::nullopt;
  const double id = ReadUint32(bytes, FindBox(bytes, fragment, "tfhd"), 4);
  const auto track = std::find_if(tracks.begin(), tracks.end(), [&](const auto& one) { return one.id == id; });
  if (track == tracks.end()) return std::nullopt;
  const double high = bytes[time.begin] == 1 ? ReadUint32(bytes, time, 4) : 0;
  return (high * 4294967296.0 + ReadUint32(bytes, time, bytes[time.begin] == 1 ? 8 : 4)) / track->ticks;
}

// Counts the index entries that libavformat builds from the tables of a track and the runs of fragments. Most
// tracks have one entry per sample. Tracks whose samples all last one tick (PCM) have one per 1024 samples of
// a chunk. Each edit may list all entries again.
class PacketCounter {
 public:
  explicit PacketCounter(const uint8_t* bytes) : bytes_(bytes) {}

  void AddTrack(const Box& track) {
    audio_ = IsAudioTrack(bytes_, track);
    Add(track);
  }

  void Add(const Box& box, int depth = 0) {
    static constexpr std::string_view kContainers[] = {"trak", "mdia", "minf", "stbl", "edts",
                                                       "moof", "traf", "dinf", "wave", "udta"};
    if (IsOneOf(box.name, kContainers)) {
      if (depth == kMaxDepth) return;
      ForEachBox(bytes_, box.begin, box.end, [&](const Box& child) { Add(child, depth + 1); });
      return;
    }
    if (box.name == "stsz" || box.name == "stz2") samples_ += ReadUint32(bytes_, box, 8);
    if (box.name == "stco" || box.name == "co64") chunks_ += ReadUint32(bytes_, box, 4);
    if (box.name == "trun") fragment_samples_ += ReadUint32(bytes_, box, 4);
    if (box.name == "elst") edits_ += std::max(ReadUint32(bytes_, box, 4), EditsOfSize(box));
    if (box.name == "stsc" && ReadUint32(bytes_, chunk_runs_, 4) == 0) chunk_runs_ = box;  // the first counts
    if (box.name != "stts") return;
    ++duration_tables_;
    if (ReadUint32(bytes_, box, 4) == 1 && ReadUint32(bytes_, box, 12) == 1) ++pcm_duration_tables_;
  }

  double Total() const {
    const bool pcm = audio_ && duration_tables_ > 0 && duration_tables_ == pcm_duration_tables_;
    return (pcm ? PcmEntries() : samples_) * std::max(edits_, 1.0) + fragment_samples_;
  }

 private:
  // libavformat replaces a number of edits that does not fit the size of the box.
  double EditsOfSize(const Box& box) const {
    if (box.end - box.begin < 8) return 0;
    const double entry = bytes_[box.begin] == 1 ? 20 : 12;
    return static_cast<double>(box.end - box.begin - 8) / entry;
  }

  // A run has its first chunk, counted from 1, the samples per chunk, and a third field.
  double PcmEntries() const {
    const double runs = ReadUint32(bytes_, chunk_runs_, 4);
    double entries = 0;
    for (size_t at = 8; at + 12 <= chunk_runs_.end - chunk_runs_.begin && (at - 8) / 12 < runs; at += 12) {
      const bool last = (at - 8) / 12 + 1 >= runs;
      const double next = last ? chunks_ + 1 : ReadUint32(bytes_, chunk_runs_, at + 12);
      const double chunks = std::max(next - ReadUint32(bytes_, chunk_runs_, at), 0.0);
      entries += chunks * std::ceil(ReadUint32(bytes_, chunk_runs_, at + 4) / 1024);
    }
    return entries;
  }

  const uint8_t* bytes_;
  bool audio_ = false;
  Box chunk_runs_;
  double samples_ = 0;
  double chunks_ = 0;
  double fragment_samples_ = 0;
  double edits_ = 0;
  int duration_tables_ = 0;
  int pcm_duration_tables_ = 0;
};

}  // namespace

// Another file, or what is no box, after the movie.
bool HasDataAfterMovie(const uint8_t* bytes, size_t size) {
  bool has_movie = false;
  bool found = false;
  ForEachBox(bytes, 0, size, [&](const Box& box) {
    const bool printable = std::all_of(box.name.begin(), box.name.end(), [](char c) { return c >= ' ' && c <= '~'; });
    const bool is_padding = box.name == std::string_view("\0\0\0\0", 4);
    found = found || (has_movie && (box.name == "ftyp" || box.name == "moov" || !(printable || is_padding)));
    has_movie = has_movie || box.name == "moov";
  });
  return found;
}

bool Mp4EndsEarly(const uint8_t* bytes, size_t size) {
  static constexpr std::string_view kContent[] = {"moov", "moof", "mdat"};
  bool cut = false;
  ForEachBox(bytes, 0, size, [&](const Box& box) {
    cut = box.is_cut && IsOneOf(box.name, kContent);
  });
  return cut;
}

RecordingSpan Mp4Span(const uint8_t* bytes, size_t size, const DecodeBudget& budget) {
  std::vector<FragmentedTrack> tracks;
  RecordingSpan span;
  double movie_seconds = 0;
  bool has_fragments = false;
  ForEachBox(bytes, 0, size, [&](const Box& box) {
    budget.Check();
    if (box.name == "moov" && tracks.empty()) {
      tracks = FragmentedTracks(bytes, box);
      movie_seconds = MovieSeconds(bytes, box);
    }
    if (box.name != "moof") return;
    has_fragments = true;
    ForEachBox(bytes, box.begin, box.end, [&](const Box& child) {
      if (child.name != "traf") return;
      const std::optional<double> start = FragmentStart(bytes, child, tracks);
      if (!start) return;
      span.start = std::min(span.start.value_or(*start), *start);
      span.end = std::max(span.end, *start);
    });
  });
  if (has_fragments) return span;
  return {0.0, movie_seconds};
}

// Masks all tracks but one, and what is neither the movie nor audio: tags, pictures, fragment indexes and
// encryption keys.
void SanitizeMp4(const uint8_t* bytes, size_t size, const TrackChoice& choice, SanitizedContainer* sanitized) {
  static constexpr std::string_view kKept[] = {"ftyp", "styp", "mdat", "wide", "skip", "prft", "emsg", "mfra"};
  static constexpr std::string_view kKeptOfMovie[] = {"mvhd", "mvex"};
  size_t fragments = 0;
  size_t movies = 0;  // libavformat reads the first
  PacketCounter packets(bytes);
  ForEachBox(bytes, 0, size, [&](const Box& box) {
    if (box.name == "moof") {
      ++fragments;
      RequireNoMovieInside(bytes, box);
      packets.Add(box);
    } else if (box.name == "moov" && movies++ == 0) {
      const Box track = KeepTrack(bytes, box, choice, sanitized);
      packets.AddTrack(track);
      if (FindBox(bytes, track, "edts").end == 0) sanitized->delay = ReadItunesDelay(bytes, box);
      ForEachBox(bytes, box.begin, box.end, [&](const Box& child) {
        if (child.name_at == track.name_at || IsOneOf(child.name, kKeptOfMovie)) {
          RequireNoMovieInside(bytes, child);
        } else {
          Mask(child, sanitized);
        }
      });
    } else if (!IsOneOf(box.name, kKept)) {
      Mask(box, sanitized);
    }
  });
  sanitized->has_unread_data = HasDataAfterMovie(bytes, size);
  if (fragments > kMaxFragments)
    throw Error(ErrorCode::kMalformed, "Expected at most 200000 fragments in the mp4 file, got more");
  sanitized->declared_packets = packets.Total();
}

}  // namespace undertone
