#pragma once

#include <cstddef>
#include <cstdint>

// What is fuzzed: each takes any bytes, throws Finding (or dies by a sanitizer) when the code that ships did
// what it never may, and returns a number that tells outcomes apart: libFuzzer cannot see into the libraries
// behind, and learns from that number what a mutation changed there.

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
// The bytes are where the speech lies, then samples.
size_t Measure(const uint8_t* bytes, size_t size);

}  // namespace undertone::fuzz
