#pragma once

#include <cstddef>
#include <cstdint>

// Fuzz targets. Each accepts any bytes, throws Finding when the code under test breaks an invariant, and
// returns a number per distinct outcome: libFuzzer does not instrument the libraries, so the number is its
// coverage of them.

namespace undertone::fuzz {

struct Finding {
  const char* what;
};

inline void Expect(bool holds, const char* what) {
  if (!holds) throw Finding{what};
}

// The bytes are a file.
size_t Decode(const uint8_t* bytes, size_t size);
// The bytes are a spec, then samples.
size_t Extract(const uint8_t* bytes, size_t size);
// The bytes are speech segments, then samples.
size_t Measure(const uint8_t* bytes, size_t size);

}  // namespace undertone::fuzz
