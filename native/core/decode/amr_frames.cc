#include "decode/amr_frames.h"

namespace undertone {

// 3GPP TS 26.101 and 26.201; RFC 4867, 5.3.
AmrFrame ReadAmrFrame(uint8_t header, bool wide) {
  static constexpr int kNarrowBytes[16] = {13, 14, 16, 18, 20, 21, 27, 32, 6, 1, 1, 1, 1, 1, 1, 1};
  static constexpr int kWideBytes[16] = {18, 24, 33, 37, 41, 47, 51, 59, 61, 6, 1, 1, 1, 1, 1, 1};
  const int type = header >> 3 & 15;
  return wide ? AmrFrame{kWideBytes[type], type >= 9} : AmrFrame{kNarrowBytes[type], type >= 8};
}

// The headers are "#!AMR" and "#!AMR-WB", each with a line feed.
bool AmrEndsInsideFrame(const uint8_t* bytes, size_t size) {
  const bool wide = bytes[5] == '-';
  size_t at = wide ? 9 : 6;
  while (at < size) at += static_cast<size_t>(ReadAmrFrame(bytes[at], wide).bytes);
  return at > size;
}

}  // namespace undertone
