#include "support/crafted_files.h"

#include <algorithm>
#include <functional>
#include <string>

extern "C" {
#include <libavutil/crc.h>
}

namespace undertone::test {
namespace {

Bytes Repeat(int count, const std::function<Bytes(int)>& make) {
  Bytes all;
  for (int i = 0; i < count; ++i) {
    const Bytes part = make(i);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Bytes Little32(uint32_t value) {
  Bytes bytes(4);
  Put32(&bytes, 0, value);
  return bytes;
}

// Vorbis comments with distinct keys.
Bytes Comments(int count) {
  return Join({Little32(0), Little32(static_cast<uint32_t>(count)), Repeat(count, [](int i) {
                 const Bytes text = FromText("K" + std::to_string(i) + "=x");
                 return Join({Little32(static_cast<uint32_t>(text.size())), text});
               })});
}

Bytes FlacWithComments() {
  Bytes flac = Fixture("speech.flac");
  flac[4] = 0;
  const Bytes comments = Comments(100'000);
  const Bytes block = Join({{0x84}, Number(comments.size(), 3), comments});
  flac.insert(flac.begin() + 42, block.begin(), block.end());
  return flac;
}

// Inserts a top-level element before the first cluster.
Bytes WebmWith(uint32_t id, const Bytes& content) {
  Bytes webm = Fixture("opus.webm");
  const Bytes segment = Number(0x18538067, 4);
  const Bytes cluster = Number(0x1F43B675, 4);
  const auto size = std::search(webm.begin(), webm.end(), segment.begin(), segment.end()) + 5;
  std::fill(size, size + 7, uint8_t{0xFF});  // unknown
  const Bytes element = Join({Number(id, 4), {8}, Number(content.size(), 4), content});
  webm.insert(std::search(webm.begin(), webm.end(), cluster.begin(), cluster.end()), element.begin(),
              element.end());
  return webm;
}

Bytes Element(uint32_t id, size_t id_bytes, const Bytes& content) {
  return Join({Number(id, id_bytes), {static_cast<uint8_t>(0x80 | content.size())}, content});
}

Bytes WebmTags() {
  return WebmWith(0x1254C367, Repeat(100'000, [](int i) {
                    const Bytes name = Element(0x45A3, 2, FromText("K" + std::to_string(i)));
                    const Bytes value = Element(0x4487, 2, FromText("x"));
                    return Element(0x7373, 2, Element(0x67C8, 2, Join({name, value})));
                  }));
}

// In descending order: each is inserted before all others.
Bytes WebmCues() {
  return WebmWith(0x1C53BB6B, Repeat(300'000, [](int i) {
                    const Bytes time = Element(0xB3, 1, Number(static_cast<uint64_t>(300'000 - i), 4));
                    const Bytes position = Join({Element(0xF7, 1, {1}), Element(0xF1, 1, {9})});
                    return Element(0xBB, 1, Join({time, Element(0xB7, 1, position)}));
                  }));
}

Bytes WebmAttachments() {
  return WebmWith(0x1941A469, Repeat(600'000, [](int i) {
                    const Bytes names = Join({Element(0x466E, 2, {'a'}), Element(0x4660, 2, {'b'})});
                    const Bytes data = Element(0x465C, 2, {'c'});
                    return Element(0x61A7, 2,
                                   Join({names, data, Element(0x46AE, 2, Number(uint64_t(i) + 1, 4))}));
                  }));
}

Bytes WebmTracks() {
  return WebmWith(0x1654AE6B, Repeat(8'000'000, [](int) { return Bytes{0xAE, 0x80}; }));
}

Bytes OggPage(uint32_t index, uint8_t flags, const Bytes& body) {
  const size_t segments = std::min<size_t>(255, body.size() / 255 + 1);
  Bytes lacing(segments, 255);
  if (segments * 255 > body.size()) lacing.back() = static_cast<uint8_t>(body.size() % 255);
  Bytes page = Join({FromText("OggS"),
                     {0, flags},
                     Bytes(8),
                     Little32(1),
                     Little32(index),
                     Bytes(4),
                     {static_cast<uint8_t>(segments)},
                     lacing,
                     body});
  const uint32_t crc = av_crc(av_crc_get_table(AV_CRC_32_IEEE), 0, page.data(), page.size());
  Put32(&page, 22, __builtin_bswap32(crc));
  return page;
}

// A first packet, a second one on as many pages as it needs, and a third.
Bytes OggStream(const Bytes& head, const Bytes& comments, const Bytes& audio) {
  constexpr size_t kMaxPage = 255 * 255;
  Bytes ogg = OggPage(0, 2, head);
  for (size_t at = 0, index = 1; at < comments.size(); at += kMaxPage, ++index) {
    const auto begin = comments.begin() + static_cast<ptrdiff_t>(at);
    const auto end = comments.begin() + static_cast<ptrdiff_t>(std::min(comments.size(), at + kMaxPage));
    ogg = Join({ogg, OggPage(static_cast<uint32_t>(index), at == 0 ? 0 : 1, Bytes(begin, end))});
  }
  return Join({ogg, OggPage(100, 0, audio)});
}

Bytes OpusWithComments() {
  const Bytes head = Join({FromText("OpusHead"), {1, 1, 0, 0, 0x80, 0xBB}, Bytes(5)});
  return OggStream(head, Join({FromText("OpusTags"), Comments(100'000)}), {0xF8, 0xFF, 0xFE});
}

Bytes AuAnnotations() {
  const Bytes text =
      Repeat(1'000'000, [](int i) { return FromText("title=" + std::to_string(i) + "\n"); });
  const Bytes header = Join({FromText(".snd"), Number(24 + text.size(), 4), Words({16000, 3, 8000, 1})});
  return Join({header, text, Bytes(16000)});
}

// A summary of names that libavformat holds in a list.
Bytes W64Summary() {
  Bytes w64 = Fixture("speech.w64");
  const Bytes list = Repeat(300'000, [](int i) {
    return Join({Number(0x20000000U + uint64_t(i) * 7919, 4), Little32(2), {'x', 0}});
  });
  const Bytes id = {0xBC, 0x94, 0x5F, 0x92, 0x5A, 0x52, 0xD2, 0x11,
                    0x86, 0xDC, 0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A};
  const Bytes size = Join({Little32(static_cast<uint32_t>(28 + list.size())), Bytes(4)});
  const Bytes chunk = Join({id, size, Little32(300'000), list});
  w64.insert(w64.begin() + 40, chunk.begin(), chunk.end());
  return w64;
}

Bytes Mp4Tracks(int tracks) {
  return Mp4(Bytes(1000),
             std::vector<Bytes>(static_cast<size_t>(tracks), SoundTrack("mp4a", 9'000'000, 1, 1)));
}

// Edits that all begin at the first of many samples without a duration, more than the box declares.
Bytes Mp4Edits() {
  const Bytes list = Join({Words({0, 1}), Bytes(size_t{80'000} * 12)});
  return Mp4(Bytes(60'000, 0x7C), {WithEdits(SoundTrack("samr", 60'000, 1, 1, 0), list)});
}

// A tag between frames, of texts with distinct names.
Bytes AacTag() {
  const Bytes adts = Fixture("adts.aac");
  const Bytes texts = Repeat(100'000, [](int i) {
    const Bytes text = Join({{0}, FromText("K" + std::to_string(i)), {0}, FromText("x")});
    return Join({FromText("TXXX"), Number(text.size(), 4), Bytes(2), text});
  });
  Bytes size(4);
  for (size_t i = 0; i < 4; ++i) size[3 - i] = texts.size() >> 7 * i & 0x7F;
  return Join({adts, FromText("ID3"), {4, 0, 0}, size, texts, adts});
}

Bytes VorbisWithComments() {
  const Bytes ogg = Fixture("vorbis.ogg");
  const Bytes head(ogg.begin() + 28, ogg.begin() + 58);
  const Bytes comments = Join({FromText("\3Vorbis"), Comments(100'000)});
  return OggStream(head, comments, {5, 'v', 'o', 'r', 'b', 'i', 's'});
}

Bytes LongElement(uint32_t id, size_t id_bytes, const Bytes& content) {
  return Join({Number(id, id_bytes), {8}, Number(content.size(), 4), content});
}

Bytes MatroskaFlacComments() {
  const Bytes flac = Fixture("speech.flac");
  const Bytes comments = Comments(100'000);
  const Bytes header = Join({Bytes(flac.begin(), flac.begin() + 42), {4}, Number(comments.size(), 3), comments});
  const Bytes codec = Join({Element(0x86, 1, FromText("A_FLAC")), LongElement(0x63A2, 2, header)});
  const Bytes numbers = Join({Element(0xD7, 1, {9}), Element(0x73C5, 2, {9}), Element(0x83, 1, {2})});
  return WebmWith(0x1654AE6B, LongElement(0xAE, 1, Join({numbers, codec})));
}

}  // namespace

std::vector<std::pair<const char*, Bytes>> CraftedFiles() {
  return {
      {"FLAC: 100,000 comments", FlacWithComments()},
      {"Opus: 100,000 comments", OpusWithComments()},
      {"WebM: 100,000 tags", WebmTags()},
      {"WebM: 300,000 cues, descending", WebmCues()},
      {"WebM: 600,000 attachments", WebmAttachments()},
      {"WebM: 8,000,000 empty tracks", WebmTracks()},
      {"MP4: a track of 9,000,000 samples", Mp4Tracks(1)},
      {"MP4: 4 such tracks", Mp4Tracks(4)},
      {"AU: 1,000,000 annotations", AuAnnotations()},
      {"W64: a summary of 300,000 names", W64Summary()},
      {"MP4: 80,000 edits", Mp4Edits()},
      {"AAC: a tag of 100,000 texts between frames", AacTag()},
      {"Vorbis: 100,000 comments in a packet with a misspelt name", VorbisWithComments()},
      {"Matroska: 100,000 comments in the header of FLAC", MatroskaFlacComments()},
  };
}

}  // namespace undertone::test
