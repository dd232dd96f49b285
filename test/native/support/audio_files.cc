#include "support/audio_files.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace undertone::test {
namespace {

const std::string& Folder() {
  static const std::string folder = [] {
    const std::string path = std::string(TEST_DIR) + "/../build/recordings";
    const std::string command = "sh '" TEST_DIR "/../scripts/recordings.sh' '" + path + "'";
    if (std::system(command.c_str()) != 0) {
      throw std::runtime_error("Expected scripts/recordings.sh to make the recordings, got a failure");
    }
    return path;
  }();
  return folder;
}

Bytes ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("Expected the recording " + path + ", got none");
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

void Append(Bytes* bytes, const void* value, size_t size) {
  const auto* from = static_cast<const uint8_t*>(value);
  bytes->insert(bytes->end(), from, from + size);
}

template <typename T>
void Append(Bytes* bytes, T value) {
  Append(bytes, &value, sizeof value);
}

}  // namespace

DecodeOptions Limits() { return {16000, -1, 900, 8, 4000, 384000, 600, nullptr}; }

Bytes Fixture(const std::string& name) { return ReadAll(Folder() + "/" + name); }

Bytes Corpus(const std::string& name) { return ReadAll(TEST_DIR "/fuzz/corpus/" + name); }

const std::vector<std::string>& FixtureNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const auto& entry : std::filesystem::directory_iterator(Folder()))
      list.push_back(entry.path().filename());
    std::sort(list.begin(), list.end());
    return list;
  }();
  return names;
}

Bytes Join(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Bytes FromText(const std::string& text) { return Bytes(text.begin(), text.end()); }

Bytes WavOf(uint16_t tag, uint16_t bits, uint32_t rate, uint16_t channels, const Bytes& data) {
  const auto frame = static_cast<uint16_t>(channels * bits / 8);
  Bytes wav = FromText("RIFF");
  Append(&wav, static_cast<uint32_t>(36 + data.size()));
  Append(&wav, "WAVEfmt ", 8);
  Append(&wav, uint32_t{16});
  Append(&wav, tag);
  Append(&wav, channels);
  Append(&wav, rate);
  Append(&wav, rate * frame);
  Append(&wav, frame);
  Append(&wav, bits);
  Append(&wav, "data", 4);
  Append(&wav, static_cast<uint32_t>(data.size()));
  wav.insert(wav.end(), data.begin(), data.end());
  return wav;
}

Bytes Wav16(uint32_t rate, uint16_t channels, const std::vector<float>& samples) {
  Bytes data;
  for (const float sample : samples) Append(&data, static_cast<int16_t>(std::lround(sample * 32767)));
  return WavOf(1, 16, rate, channels, data);
}

Bytes WavFloat(uint32_t rate, uint16_t channels, const std::vector<float>& samples) {
  Bytes data;
  for (const float sample : samples) Append(&data, sample);
  return WavOf(3, 32, rate, channels, data);
}

Bytes::iterator Find(Bytes* bytes, const std::string& text) {
  return std::search(bytes->begin(), bytes->end(), text.begin(), text.end());
}

void Put32(Bytes* bytes, size_t at, uint32_t value) { std::memcpy(bytes->data() + at, &value, 4); }

SineFit FitSine(const float* samples, size_t count, double hertz, double rate) {
  double ss = 0, cc = 0, sc = 0, xs = 0, xc = 0;
  for (size_t i = 0; i < count; ++i) {
    const double phase = 2 * M_PI * hertz * static_cast<double>(i) / rate;
    const double s = std::sin(phase);
    const double c = std::cos(phase);
    ss += s * s;
    cc += c * c;
    sc += s * c;
    xs += samples[i] * s;
    xc += samples[i] * c;
  }
  const double a = (xs * cc - xc * sc) / (ss * cc - sc * sc);
  const double b = (xc * ss - xs * sc) / (ss * cc - sc * sc);
  double rest = 0;
  for (size_t i = 0; i < count; ++i) {
    const double phase = 2 * M_PI * hertz * static_cast<double>(i) / rate;
    const double error = samples[i] - a * std::sin(phase) - b * std::cos(phase);
    rest += error * error;
  }
  return {10 * std::log10((a * a + b * b) / 2), 10 * std::log10(rest / static_cast<double>(count) + 1e-30)};
}

std::string ErrorOf(const Bytes& bytes, const DecodeOptions& options) {
  try {
    Decode(bytes.data(), bytes.size(), options);
  } catch (const Error& error) {
    return std::string(CodeName(error.code)) + ": " + error.what();
  }
  return "";
}

}  // namespace undertone::test
