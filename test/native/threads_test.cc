#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "analysis/prosody.h"
#include "analysis/signal_measures.h"
#include "decode/decode.h"
#include "dsp/features.h"
#include "support/audio_files.h"
#include "support/specs.h"

namespace undertone {
namespace {

using namespace test;

struct Outputs {
  std::vector<float> features;
  std::vector<float> pitch_hz;
  double bandwidth_hz;
};

// All that a worker does with a recording before the models.
Outputs Process(const Bytes& file) {
  const Audio audio = Decode(file.data(), file.size(), Limits());
  const std::vector<float>& samples = audio.samples;
  const Features features = Extractor(WhisperSpec())(samples.data(), samples.size());
  const ProsodyTrack track = ProsodyTracker()(samples.data(), samples.size());
  const SignalQuality quality =
      MeasureSignalQuality(samples.data(), samples.size(), audio.sample_rate, {{0.5, 2}});
  return {features.data, track.pitch_hz, quality.bandwidth_hz};
}

TEST_CASE("parallel decodes equal serial ones") {
  const std::vector<const char*> names = {"cbr.mp3", "opus.webm", "aac.m4a", "mono-16k.wav"};
  std::vector<Bytes> files;
  for (const char* name : names) files.push_back(Fixture(name));
  std::vector<Outputs> parallel(files.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < files.size(); ++i) threads.emplace_back([&, i] { parallel[i] = Process(files[i]); });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < files.size(); ++i) {
    CAPTURE(names[i]);
    const Outputs alone = Process(files[i]);
    CHECK(parallel[i].features == alone.features);
    CHECK(parallel[i].pitch_hz == alone.pitch_hz);
    CHECK(parallel[i].bandwidth_hz == alone.bandwidth_hz);
  }
}

}  // namespace
}  // namespace undertone
