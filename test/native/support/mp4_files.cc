#include "support/mp4_files.h"

namespace undertone::test {

Bytes Number(uint64_t value, size_t count) {
  Bytes bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[count - 1 - i] = static_cast<uint8_t>(value >> 8 * i);
  return bytes;
}

Bytes Box(const std::string& name, const std::vector<Bytes>& inner) {
  const Bytes body = Join(inner);
  return Join({Number(body.size() + 8, 4), FromText(name), body});
}

Bytes Words(const std::vector<uint32_t>& values) {
  Bytes all;
  for (const uint32_t value : values) {
    const Bytes word = Number(value, 4);
    all.insert(all.end(), word.begin(), word.end());
  }
  return all;
}

const Bytes& Mp4Type() {
  static const Bytes type = Box("ftyp", {FromText("3gp4"), Words({0})});
  return type;
}

Bytes SoundTrack(const std::string& codec, uint32_t count, uint32_t size, uint32_t chunks, uint32_t ticks) {
  const Bytes entry = Box(codec, {Words({0, 1, 0, 0, 0x10010, 0, 8000U << 16})});
  std::vector<uint32_t> places(chunks, static_cast<uint32_t>(Mp4Type().size() + 8));
  places.insert(places.begin(), {0, chunks});
  return Box(
      "trak",
      {Box("tkhd", {Words({7, 0, 0, 1, 0, 1}), Bytes(60)}),
       Box("mdia",
           {Box("mdhd", {Words({0, 0, 0, 8000, 0, 0})}),
            Box("hdlr", {Words({0, 0}), FromText("soun"), Bytes(13)}),
            Box("minf",
                {Box("stbl", {Box("stsd", {Words({0, 1}), entry}), Box("stts", {Words({0, 1, count, ticks})}),
                              Box("stsc", {Words({0, 1, 1, count / chunks, 1})}),
                              Box("stsz", {Words({0, size, count})}), Box("stco", {Words(places)})})})})});
}

Bytes WithEdits(const Bytes& track, const Bytes& list) {
  const Bytes content(track.begin() + 8, track.end());
  return Box("trak", {content, Box("edts", {Box("elst", {list})})});
}

Bytes Mp4(const Bytes& data, const std::vector<Bytes>& tracks) {
  const Bytes head = Box("mvhd", {Words({0, 0, 0, 1000, 1000}), Bytes(80)});
  return Join({Mp4Type(), Box("mdat", {data}), Box("moov", {head, Join(tracks)})});
}

}  // namespace undertone::test
