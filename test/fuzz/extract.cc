#include <string>

#include "dsp/features.h"
#include "error.h"
#include "input.h"
#include "targets.h"

namespace undertone::fuzz {
namespace {

constexpr size_t kMaxWork = size_t{1} << 23;  // samples through transforms of one run

int PickFftLength(Input* input) {
  static constexpr int kLengths[] = {2, 30, 64, 256, 400, 512, 1080, 2048, 4050, 32768};
  return input->Flag() ? kLengths[input->Below(10)] : input->Raw<int16_t>();
}

double PickNumber(Input* input) { return input->Flag() ? input->Below(1000) / 500.0 : input->Raw<double>(); }

FeatureSpec PickSpec(Input* input) {
  FeatureSpec spec = {};
  spec.sample_rate = input->Flag() ? 16000 : input->Raw<int32_t>();
  spec.n_fft = PickFftLength(input);
  spec.win_length = input->Flag() ? spec.n_fft - input->Below(4) : input->Raw<int16_t>();
  spec.hop_length = input->Flag() ? input->Below(512) : input->Raw<int16_t>();
  spec.padding = static_cast<Padding>(input->Below(3));
  spec.drop_last = input->Flag();
  spec.remove_dc = input->Flag();
  spec.preemphasis = PickNumber(input);
  spec.window = static_cast<Window>(input->Below(3));
  spec.window_periodic = input->Flag();
  spec.spectrum = static_cast<Spectrum>(input->Below(2));
  spec.n_mels = input->Below(1026);
  spec.low_hz = input->Flag() ? input->Below(1000) : input->Raw<double>();
  spec.high_hz = input->Flag() ? spec.sample_rate / 2.0 : input->Raw<double>();
  spec.mel_scale = static_cast<MelScale>(input->Below(2));
  spec.mel_norm = static_cast<MelNorm>(input->Below(2));
  spec.mel_triangles = static_cast<MelTriangles>(input->Below(2));
  spec.log_base = static_cast<LogBase>(input->Below(2));
  spec.log_floor = input->Flag() ? 1e-10 : input->Raw<double>();
  if (input->Flag()) spec.top_db = PickNumber(input);
  spec.offset = PickNumber(input);
  spec.scale = PickNumber(input);
  if (input->Flag()) spec.n_mfcc = input->Below(130);
  spec.lifter = PickNumber(input);
  spec.energy = static_cast<Energy>(input->Below(2));
  return spec;
}

}  // namespace

size_t Extract(const uint8_t* bytes, size_t size) {
  Input input(bytes, size);
  const FeatureSpec spec = PickSpec(&input);
  const Lanes lanes = input.PickLanes();
  const bool wild = input.Flag();
  const std::vector<float> samples = wild ? input.Floats() : input.Samples();
  try {
    Extractor extractor(spec, lanes);
    if (extractor.Frames(samples.size()) * static_cast<size_t>(spec.n_fft) > kMaxWork) return 1;
    const Features features = extractor(samples.data(), samples.size());
    Expect(features.data.size() == features.frames * features.n_features, "another shape than it says");
    Expect(wild || AllFinite(features.data), "a feature that is not finite");
    return 2 + static_cast<size_t>(lanes);
  } catch (const Error& error) {
    Expect(error.code == ErrorCode::kBadArgument, "another error than that of an argument");
    return std::string(error.what()).find('`');
  }
}

}  // namespace undertone::fuzz
