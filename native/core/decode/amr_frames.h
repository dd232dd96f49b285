#pragma once

#include <cstddef>
#include <cstdint>

namespace undertone {

struct AmrFrame {
  int bytes;       // with its header byte
  bool no_speech;  // comfort noise or no data
};

// `header` is the frame's first byte.
AmrFrame ReadAmrFrame(uint8_t header, bool wide);

// Whether a file with the header of its kind ends inside a frame.
bool AmrEndsInsideFrame(const uint8_t* bytes, size_t size);

}  // namespace undertone
