#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "dsp/features.h"
#include "support/signal.h"
#include "support/specs.h"

namespace undertone {
namespace {

std::vector<float> ReadVector(const std::string& name) {
  std::ifstream file(std::string(TEST_DIR) + "/native/oracles/" + name + ".f32", std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<float> values(bytes.size() / sizeof(float));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(values.data()));
  return values;
}

// Every vector width that this processor has, against the vector that make.py wrote.
void CheckOracle(const std::string& name, const FeatureSpec& spec, double tolerance) {
  const std::vector<float> samples = TestSignal(1, 4800);
  const std::vector<float> expected = ReadVector(name);
  REQUIRE(!expected.empty());
  for (Lanes lanes : {Lanes::kScalar, Lanes::kFour, Lanes::kEight, Lanes::kSixteen}) {
    if (!LanesSupported(lanes)) continue;
    const Features features = Extractor(spec, lanes)(samples.data(), samples.size());
    REQUIRE(features.data.size() == expected.size());
    double worst = 0.0;
    for (size_t i = 0; i < expected.size(); ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(features.data[i]) - expected[i]));
    }
    CAPTURE(name);
    CAPTURE(static_cast<int>(lanes));
    CHECK(worst < tolerance);
  }
}

TEST_CASE("equals kaldi-native-fbank's filter bank") { CheckOracle("kaldi_fbank", KaldiSpec(), 1e-3); }

TEST_CASE("equals kaldi-native-fbank with Hamming, magnitude and reflected edges") {
  FeatureSpec spec = KaldiSpec();
  spec.padding = Padding::kSnipEdgesFalse;
  spec.window = Window::kHamming;
  spec.spectrum = Spectrum::kMagnitude;
  spec.n_mels = 40;
  CheckOracle("kaldi_magnitude", spec, 1e-3);
}

TEST_CASE("equals kaldi-native-fbank's MFCC with lifter and raw energy") {
  CheckOracle("kaldi_mfcc", KaldiMfccSpec(), 1e-3);
}

FeatureSpec LibrosaSpec() {
  FeatureSpec spec = WhisperSpec();
  spec.drop_last = false;
  spec.n_fft = 512;
  spec.n_mels = 64;
  spec.low_hz = 50.0;
  spec.high_hz = 7600.0;
  spec.top_db = 30;
  spec.scale = 10.0;
  return spec;
}

TEST_CASE("equals librosa's melspectrogram and power_to_db") {
  CheckOracle("librosa_log_mel", LibrosaSpec(), 1e-3);
}

TEST_CASE("equals librosa's MFCC") {
  FeatureSpec spec = LibrosaSpec();
  spec.n_mfcc = 20;
  CheckOracle("librosa_mfcc", spec, 1e-3);
}

TEST_CASE("equals Whisper's normalised log-mel") {
  FeatureSpec spec = WhisperSpec();
  spec.top_db = 80;
  spec.offset = 4.0;
  spec.scale = 0.25;
  CheckOracle("whisper", spec, 1e-3);
}

TEST_CASE("equals torchaudio's MelSpectrogram") {
  FeatureSpec spec = WhisperSpec();
  spec.drop_last = false;
  spec.n_mels = 40;
  spec.mel_scale = MelScale::kHtk;
  spec.mel_norm = MelNorm::kNone;
  spec.log_base = LogBase::kE;
  CheckOracle("torchaudio", spec, 1e-3);
}

}  // namespace
}  // namespace undertone
