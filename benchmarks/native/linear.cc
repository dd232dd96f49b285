// Times 10 s and 600 s of the same samples in turns and measures what 600 s add to the process's peak memory.
// benchmark_linear SAMPLES.f32 prints {"short": [ns/frame], "long": [ns/frame], "heap": bytes, "features":
// bytes}.

#include <sys/resource.h>

#include <cstdio>
#include <vector>

#include "../../test/native/specs.h"
#include "features.h"
#include "print_list.h"
#include "processor_time.h"
#include "samples.h"

namespace {

using undertone::Extractor;
using undertone::Features;

constexpr size_t kShortSamples = 160000;
constexpr int kRounds = 40;

size_t PeakBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) * 1024;
}

// ns/frame of one call on the first `n` samples, repeated to the same amount of work for every n.
double TimeFrames(Extractor* extractor, const std::vector<float>& samples, size_t n, float* out) {
  const size_t repeats = samples.size() / n;
  const double start = Nanoseconds();
  for (size_t i = 0; i < repeats; ++i) extractor->Extract(samples.data(), n, out);
  return (Nanoseconds() - start) / static_cast<double>(repeats * extractor->Frames(n));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: benchmark_linear SAMPLES.f32\n");
    return 2;
  }
  const std::vector<float> samples = ReadSamples(argv[1]);
  const size_t before = PeakBytes();
  Extractor extractor(WhisperSpec());
  Features features = extractor(samples.data(), samples.size());
  const size_t heap = PeakBytes() - before;
  std::vector<double> ns_short;
  std::vector<double> ns_long;
  for (int round = 0; round < kRounds; ++round) {
    ns_short.push_back(TimeFrames(&extractor, samples, kShortSamples, features.data.data()));
    ns_long.push_back(TimeFrames(&extractor, samples, samples.size(), features.data.data()));
  }
  std::printf("{");
  PrintList("short", ns_short, 1);
  std::printf(",");
  PrintList("long", ns_long, 1);
  std::printf(",\"heap\":%zu,\"features\":%zu}\n", heap, features.data.size() * sizeof(float));
  return 0;
}
