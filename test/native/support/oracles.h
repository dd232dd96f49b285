#pragma once

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// The vector that test/native/oracles/make.py wrote.
inline std::vector<float> ReadVector(const std::string& name) {
  std::ifstream file(std::string(TEST_DIR) + "/native/oracles/" + name + ".f32", std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<float> values(bytes.size() / sizeof(float));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(values.data()));
  return values;
}
