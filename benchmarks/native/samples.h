#pragma once

#include <fstream>
#include <vector>

// A file of little-endian float32.
inline std::vector<float> ReadSamples(const char* path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<float> samples(static_cast<size_t>(file.tellg()) / sizeof(float));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(samples.data()),
            static_cast<std::streamsize>(samples.size() * sizeof(float)));
  return samples;
}
