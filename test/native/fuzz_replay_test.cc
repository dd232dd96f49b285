#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "../fuzz/targets.h"
#include "support/audio_files.h"

namespace undertone {
namespace {

using namespace test;
namespace fs = std::filesystem;

Bytes ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

// FOLDER/TARGET/FILE; what is not named after another target is a family of containers.
size_t Replay(const std::string& folder) {
  static const std::map<std::string, size_t (*)(const uint8_t*, size_t)> targets = {
      {"extract", fuzz::Extract}, {"measure", fuzz::Measure}};
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    CAPTURE(entry.path().string());
    const Bytes bytes = ReadAll(entry.path());
    const auto target = targets.find(entry.path().parent_path().filename());
    CHECK_NOTHROW((target == targets.end() ? fuzz::Decode : target->second)(bytes.data(), bytes.size()));
    ++files;
  }
  return files;
}

TEST_CASE("the corpus of the fuzzers has no findings") { CHECK(Replay(TEST_DIR "/fuzz/corpus") > 50); }

}  // namespace
}  // namespace undertone
