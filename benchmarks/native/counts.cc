// One piece of work whose instructions are counted: valgrind --tool=callgrind --toggle-collect=CountedWork
// benchmark_counts TASK [FILE]. Everything has run once before. Samples are 10 s of seeded noise; vectors are
// those of AVX2 or SSE2, since valgrind knows no wider ones. Built for arm64 it has the kernels alone, and repeats the
// work: benchmark_counts TASK TIMES.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../../test/native/support/signal.h"
#include "../../test/native/support/specs.h"
#include "analysis/prosody.h"
#include "dsp/features.h"
#ifndef UNDERTONE_KERNEL_TESTS
#include "decode/decode.h"
#include "dsp/resample.h"
#endif

namespace {

using undertone::Extractor;
using undertone::FeatureSpec;
using undertone::Lanes;
using Work = std::function<void()>;

constexpr int kRate = 16000;
#ifdef UNDERTONE_KERNEL_TESTS
constexpr size_t kSeconds = 1;  // an emulator logs every instruction
#else
constexpr size_t kSeconds = 10;
#endif

Work ExtractWork(int lanes, int n_mfcc) {
  FeatureSpec spec = WhisperSpec();
  if (n_mfcc > 0) spec.n_mfcc = n_mfcc;
  auto extractor = std::make_shared<Extractor>(spec, static_cast<Lanes>(lanes));
  auto samples = std::make_shared<std::vector<float>>(Noise(kSeconds * kRate, 0.5, 1));
  auto out =
      std::make_shared<std::vector<float>>(extractor->Frames(samples->size()) * extractor->n_features());
  return [=] { extractor->Extract(samples->data(), samples->size(), out->data()); };
}

Work ProsodyWork(Lanes lanes) {
  auto tracker = std::make_shared<undertone::ProsodyTracker>(lanes);
  auto samples = std::make_shared<std::vector<float>>(Noise(kSeconds * kRate, 0.5, 1));
  return [=] { (*tracker)(samples->data(), samples->size()); };
}

#ifndef UNDERTONE_KERNEL_TESTS
constexpr int kSourceRate = 44100;

Work ResampleWork() {
  auto samples = std::make_shared<std::vector<float>>(Noise(kSeconds * kSourceRate, 0.5, 1));
  return [=] {
    undertone::Resampler resampler(kSourceRate, kRate);
    std::vector<float> out;
    resampler.Process(samples->data(), samples->size(), &out);
    resampler.Flush(&out);
  };
}

Work DecodeWork(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  auto bytes = std::make_shared<std::vector<uint8_t>>(std::istreambuf_iterator<char>(stream),
                                                      std::istreambuf_iterator<char>());
  const undertone::DecodeOptions options{kRate, -1, 900, 8, 4000, 384000, 0, nullptr};
  return [=] { undertone::Decode(bytes->data(), bytes->size(), options); };
}

#endif

}  // namespace

extern "C" __attribute__((noinline)) void CountedWork(const Work& work) { work(); }

int main(int argc, char** argv) {
  const std::map<std::string, std::function<Work()>> tasks = {
      {"log-mel-4", [] { return ExtractWork(4, 0); }},
      {"mfcc-4", [] { return ExtractWork(4, 13); }},
      {"voice-4", [] { return ProsodyWork(Lanes::kFour); }},
#ifndef UNDERTONE_KERNEL_TESTS
      {"log-mel-8", [] { return ExtractWork(8, 0); }},
      {"mfcc-8", [] { return ExtractWork(8, 13); }},
      {"voice-8", [] { return ProsodyWork(Lanes::kEight); }},
      {"resample", ResampleWork},
      {"decode", [&] { return DecodeWork(argc == 3 ? argv[2] : ""); }},
#endif
  };
  const auto task = tasks.find(argc > 1 ? argv[1] : "");
  if (task == tasks.end()) {
    std::fprintf(stderr, "usage: benchmark_counts TASK [FILE]\n");
    return 2;
  }
  const Work work = task->second();
  work();
#ifdef UNDERTONE_KERNEL_TESTS
  const int times = argc == 3 ? std::atoi(argv[2]) : 1;
#else
  const int times = 1;
#endif
  for (int i = 0; i < times; i++) CountedWork(work);
  return 0;
}
