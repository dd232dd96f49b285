#include "dsp/features.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <thread>

#include "dsp/highpass.h"
#include "error.h"
#include "support/oracles.h"
#include "support/signal.h"
#include "support/specs.h"

namespace undertone {
namespace {

std::vector<Lanes> SupportedLanes() {
  std::vector<Lanes> supported;
  for (Lanes lanes : {Lanes::kScalar, Lanes::kFour, Lanes::kEight, Lanes::kSixteen}) {
    if (LanesSupported(lanes)) supported.push_back(lanes);
  }
  return supported;
}

std::string ErrorOf(const FeatureSpec& spec) {
  try {
    CheckFeatureSpec(spec);
  } catch (const Error& error) {
    CHECK(error.code == ErrorCode::kBadArgument);
    return error.what();
  }
  return "accepted";
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST_CASE("every processor has a kernel of four lanes") {
  CHECK(LanesSupported(Lanes::kFour));
  CHECK(LaneWidth(Lanes::kAuto) >= 4);
}
#endif

TEST_CASE("all vector widths have the same bits, for odd lengths, hops and column counts too") {
  FeatureSpec spec = WhisperSpec();
  spec.win_length = 397;
  spec.hop_length = 101;
  spec.n_mels = 23;
  const std::vector<float> samples = TestSignal(3, 4001);
  const Features scalar = Extractor(spec, Lanes::kScalar)(samples.data(), samples.size());
  CHECK(scalar.n_features == 23);
  CHECK(scalar.frames == 4001 / 101);
  for (Lanes lanes : SupportedLanes()) {
    CHECK(Extractor(spec, lanes)(samples.data(), samples.size()).data == scalar.data);
  }
}

TEST_CASE("all vector widths have the same bits at every length of the transform") {
  const std::vector<float> samples = TestSignal(6, 600);
  for (int length = 2; length <= 256; length += 2) {
    FeatureSpec spec = WhisperSpec();
    spec.win_length = spec.n_fft = length;
    spec.n_mels = 3;
    if (ErrorOf(spec) != "accepted") continue;
    const Features scalar = Extractor(spec, Lanes::kScalar)(samples.data(), samples.size());
    for (Lanes lanes : SupportedLanes()) {
      CHECK(Extractor(spec, lanes)(samples.data(), samples.size()).data == scalar.data);
    }
  }
}

TEST_CASE("the narrowest and the widest bands have numbers for features") {
  const std::vector<float> samples = TestSignal(7, 40000);
  for (const int rate : {1000, 384000}) {
    for (const int n_mels : {1, 1024}) {
      for (const double low : {0.0, rate / 2.0 - 1}) {
        for (const double high : {low + 1, rate / 2.0}) {
          for (const MelScale scale : {MelScale::kHtk, MelScale::kSlaney}) {
            FeatureSpec spec = WhisperSpec();
            spec.sample_rate = rate;
            spec.win_length = spec.n_fft = 32768;
            spec.n_mels = n_mels;
            spec.low_hz = low;
            spec.high_hz = high;
            spec.mel_scale = scale;
            REQUIRE(ErrorOf(spec) == "accepted");
            for (const float value : Extractor(spec)(samples.data(), samples.size()).data) {
              CHECK(std::isfinite(value));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("digital silence is the logarithm of the floor") {
  const std::vector<float> silence(16000, 0.0f);
  FeatureSpec spec = WhisperSpec();
  const Features features = Extractor(spec)(silence.data(), silence.size());
  CHECK(features.frames == 100);
  for (float value : features.data) CHECK(value == doctest::Approx(-10.0).epsilon(1e-6));
  spec.offset = 4.0;
  spec.scale = 0.25;
  CHECK(Extractor(spec)(silence.data(), silence.size()).data[0] == doctest::Approx(-1.5).epsilon(1e-6));
}

TEST_CASE("short recordings have frames or none, without a fault") {
  for (Lanes lanes : SupportedLanes()) {
    for (size_t n : {0, 1, 2, 159, 160, 199, 200, 201, 399, 400, 401}) {
      const std::vector<float> samples = TestSignal(2, n);
      for (const FeatureSpec& spec : {WhisperSpec(), KaldiSpec(), KaldiMfccSpec()}) {
        const Features features = Extractor(spec, lanes)(samples.data(), n);
        CHECK(features.data.size() == features.frames * features.n_features);
        for (float value : features.data) CHECK(std::isfinite(value));
      }
    }
  }
  FeatureSpec centered = WhisperSpec();
  centered.drop_last = false;
  CHECK(Extractor(centered)(TestSignal(2, 1).data(), 1).frames == 1);
  const std::vector<float> samples = TestSignal(2, 200);
  CHECK(Extractor(WhisperSpec()).Frames(0) == 0);
  CHECK(Extractor(WhisperSpec()).Frames(1) == 0);
  CHECK(Extractor(WhisperSpec())(samples.data(), 200).frames == 1);
  CHECK(Extractor(KaldiSpec()).Frames(200) == 0);
  CHECK(Extractor(KaldiSpec()).Frames(400) == 1);
  CHECK(Extractor(KaldiMfccSpec()).Frames(80) == 1);
}

TEST_CASE("what is not a number becomes the floor, infinity stays finite") {
  std::vector<float> samples = TestSignal(2, 1600);
  samples[800] = std::numeric_limits<float>::quiet_NaN();
  samples[1200] = std::numeric_limits<float>::infinity();
  for (Lanes lanes : SupportedLanes()) {
    for (float value : Extractor(WhisperSpec(), lanes)(samples.data(), samples.size()).data) {
      CHECK(std::isfinite(value));
    }
  }
}

TEST_CASE("a frame's numbers do not depend on its neighbours in the block") {
  const std::vector<float> samples = TestSignal(9, 16000);
  FeatureSpec spec = WhisperSpec();
  spec.padding = Padding::kNone;
  Extractor extractor(spec);
  const Features whole = extractor(samples.data(), samples.size());
  for (size_t skip : {1, 5, 17}) {
    const Features later = extractor(samples.data() + skip * 160, samples.size() - skip * 160);
    const std::vector<float> same(whole.data.begin() + static_cast<std::ptrdiff_t>(skip * 80),
                                  whole.data.end());
    CHECK(later.data == same);
  }
}

TEST_CASE("samples pass the high-pass of a spec, whose first sample precedes them") {
  const std::vector<float> samples = TestSignal(4, 16000);
  FeatureSpec spec = WhisperSpec();
  std::vector<float> filtered(samples.size());
  Highpass::State state = {};
  Highpass(16000, 64).Run(samples.data(), samples.size(), &state,
                          [&](size_t i, double value) { filtered[i] = static_cast<float>(value); });
  const Features expected = Extractor(spec)(filtered.data(), filtered.size());
  spec.highpass_hz = 64;
  CHECK(Extractor(spec)(samples.data(), samples.size()).data == expected.data);
  CHECK(Extractor(spec)(samples.data(), 0).frames == 0);
}

TEST_CASE("a spec out of range is refused by name") {
  FeatureSpec spec = WhisperSpec();
  CHECK(ErrorOf(spec) == "accepted");
  spec.hop_length = 0;
  CHECK(ErrorOf(spec) == "Expected a number from 1 to 32768 for `hopLength`, got 0");
  spec = WhisperSpec();
  spec.n_fft = 399;
  CHECK(ErrorOf(spec) == "Expected a number from 400 to 32768 for `nFft`, got 399");
  spec.n_fft = 406;
  CHECK(ErrorOf(spec) == "Expected an even product of 2, 3 and 5 for `nFft`, got 406");
  spec = WhisperSpec();
  spec.high_hz = 9000;
  CHECK(ErrorOf(spec) == "Expected a number from 0 to 8000 for `highHz`, got 9000");
  spec.low_hz = 8000;
  spec.high_hz = 8000;
  CHECK(ErrorOf(spec) == "Expected at least 1 more than `lowHz` for `highHz`, got 8000");
  spec = WhisperSpec();
  for (const double hertz : {9.9, 200.1, -64.0, std::numeric_limits<double>::quiet_NaN()}) {
    spec.highpass_hz = hertz;
    CHECK(ErrorOf(spec).rfind("Expected a number from 10 to 200 for `highpassHz`", 0) == 0);
  }
  spec = WhisperSpec();
  spec.log_floor = 0;
  CHECK(ErrorOf(spec) == "Expected a number from 1e-37 to 1 for `logFloor`, got 0");
  spec = WhisperSpec();
  spec.preemphasis = std::numeric_limits<double>::quiet_NaN();
  CHECK(ErrorOf(spec) == "Expected a number from 0 to 1 for `preemphasis`, got nan");
  spec = WhisperSpec();
  spec.n_mfcc = 81;
  CHECK(ErrorOf(spec) == "Expected a number from 1 to 80 for `nMfcc`, got 81");
  spec.n_mfcc = 13;
  for (const double lifter : {1e-300, 0.5, -1.0, 1001.0}) {
    spec.lifter = lifter;
    CHECK(ErrorOf(spec).rfind("Expected 0 or a number from 1 to 1000 for `lifter`", 0) == 0);
  }
  spec.lifter = std::numeric_limits<double>::quiet_NaN();
  CHECK(ErrorOf(spec).rfind("Expected 0 or a number from 1 to 1000 for `lifter`", 0) == 0);
  spec = WhisperSpec();
  spec.energy = Energy::kLog;
  CHECK(ErrorOf(spec) == "Expected \"none\" without `nMfcc` for `energy`, got \"log\"");
}

TEST_CASE("every number of a spec has bounds, which are accepted") {
  struct Bounds {
    const char* name;
    std::function<void(FeatureSpec*, double)> set;
    double low;
    double high;
    double step;  // to the next value that is refused
  };
  const auto integer = [](int FeatureSpec::*member) {
    return [member](FeatureSpec* spec, double value) { spec->*member = static_cast<int>(value); };
  };
  const auto number = [](double FeatureSpec::*member) {
    return [member](FeatureSpec* spec, double value) { spec->*member = value; };
  };
  const Bounds all[] = {
      {"sampleRate", integer(&FeatureSpec::sample_rate), 16000, 384000, 15001},
      {"winLength", integer(&FeatureSpec::win_length), 2, 400, 1},
      {"hopLength", integer(&FeatureSpec::hop_length), 1, 32768, 1},
      {"preemphasis", number(&FeatureSpec::preemphasis), 0, 1, 0.01},
      {"nFft", integer(&FeatureSpec::n_fft), 400, 32768, 2},
      {"nMels", integer(&FeatureSpec::n_mels), 1, 1024, 1},
      {"lowHz", number(&FeatureSpec::low_hz), 0, 7999, 1.5},
      {"highHz", number(&FeatureSpec::high_hz), 1, 8000, 0.5},
      {"logFloor", number(&FeatureSpec::log_floor), 1e-37, 1, 1e-3},
      {"topDb", [](FeatureSpec* spec, double value) { spec->top_db = value; }, 1e-5, 1e7, 1},
      {"offset", number(&FeatureSpec::offset), -1e6, 1e6, 1},
      {"scale", number(&FeatureSpec::scale), -1e6, 1e6, 1},
      {"nMfcc", [](FeatureSpec* spec, double value) { spec->n_mfcc = static_cast<int>(value); }, 1, 80, 1},
      {"highpassHz", [](FeatureSpec* spec, double value) { spec->highpass_hz = value; }, 10, 200, 0.1},
  };
  for (const Bounds& bounds : all) {
    CAPTURE(bounds.name);
    const auto error_of = [&](double value) {
      FeatureSpec spec = WhisperSpec();
      bounds.set(&spec, value);
      return ErrorOf(spec);
    };
    CHECK(error_of(bounds.low) == "accepted");
    CHECK(error_of(bounds.high) == "accepted");
    CHECK(error_of(bounds.low - bounds.step).rfind("Expected ", 0) == 0);
    CHECK(error_of(bounds.high + bounds.step).rfind("Expected ", 0) == 0);
  }
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
