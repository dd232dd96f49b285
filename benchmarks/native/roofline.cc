// Compares log-mel extraction with the processor's peak arithmetic rate (the roofline model).
// benchmark_roofline SAMPLES.f32 prints one JSON line per vector width: {"lanes", "flops": per frame,
// "gflops": [peak rate of independent FMA chains], "ns": [per frame]}, measured in turns. Operations per
// frame: 400 products of the window, 2.5 n log2 n of the real transform, n = 512; 3 a bin of power; 2 a
// weight of the sparse filters; 30 a filter for the logarithm with its floor, gain and offset.

#include <immintrin.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "../../test/native/support/specs.h"
#include "dsp/features.h"
#include "dsp/mel.h"
#include "print_list.h"
#include "processor_time.h"
#include "samples.h"

namespace {

using undertone::Extractor;
using undertone::FeatureSpec;
using undertone::Lanes;

constexpr size_t kShortSamples = 160000;  // 10 s
constexpr int kRounds = 60;
constexpr int kRepeats = 20000;
// Independent chains: two units with a latency of four or five cycles, and sixteen registers.
constexpr int kChains = 12;

double CountFlops(const FeatureSpec& spec) {
  const double n = spec.n_fft;
  const double weights = static_cast<double>(undertone::MakeMelFilters(spec).weights.size());
  return spec.win_length + 2.5 * n * std::log2(n) + 3 * (n / 2 + 1) + 2 * weights + 30 * spec.n_mels;
}

volatile float sink;

// Without fused operations products and sums take the units in turns.
double SseFlops() {
  __m128 chains[kChains];
  for (int i = 0; i < kChains; ++i) chains[i] = _mm_set1_ps(static_cast<float>(i));
  const __m128 factor = _mm_set1_ps(0.999f);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) {
      chains[i] = i % 2 == 0 ? _mm_mul_ps(chains[i], factor) : _mm_add_ps(chains[i], factor);
    }
  }
  for (const __m128& chain : chains) sink = _mm_cvtss_f32(chain);
  return 4.0 * kChains * kRepeats;
}

__attribute__((target("avx2,fma"))) double AvxFlops() {
  __m256 chains[kChains];
  for (int i = 0; i < kChains; ++i) chains[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 factor = _mm256_set1_ps(0.999f);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chains[i] = _mm256_fmadd_ps(chains[i], factor, factor);
  }
  for (const __m256& chain : chains) sink = _mm256_cvtss_f32(chain);
  return 16.0 * kChains * kRepeats;
}

__attribute__((target("avx512f"))) double WideFlops() {
  __m512 chains[kChains];
  for (int i = 0; i < kChains; ++i) chains[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 factor = _mm512_set1_ps(0.999f);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) chains[i] = _mm512_fmadd_ps(chains[i], factor, factor);
  }
  for (const __m512& chain : chains) sink = _mm512_cvtss_f32(chain);
  return 32.0 * kChains * kRepeats;
}

struct Probe {
  int lanes;
  double (*run)();  // returns the operations done
};

void Measure(const Probe& probe, const std::vector<float>& samples) {
  FeatureSpec spec = WhisperSpec();
  spec.n_fft = 512;
  Extractor extractor(spec, static_cast<Lanes>(probe.lanes));
  const double frames = static_cast<double>(extractor.Frames(kShortSamples));
  std::vector<float> out(extractor.Frames(kShortSamples) * extractor.n_features());
  std::vector<double> gflops, ns;
  for (int round = 0; round <= kRounds; ++round) {
    double start = Nanoseconds();
    const double done = probe.run();
    const double rate = done / (Nanoseconds() - start);
    start = Nanoseconds();
    extractor.Extract(samples.data(), kShortSamples, out.data());
    const double spent = (Nanoseconds() - start) / frames;
    if (round == 0) continue;  // caches
    gflops.push_back(rate);
    ns.push_back(spent);
  }
  std::printf("{\"lanes\":%d,\"flops\":%.0f,", probe.lanes, CountFlops(spec));
  PrintList("gflops", gflops, 2);
  std::printf(",");
  PrintList("ns", ns, 2);
  std::printf("}\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: benchmark_roofline SAMPLES.f32\n");
    return 2;
  }
  const std::vector<float> samples = ReadSamples(argv[1]);
  for (const Probe& probe : {Probe{4, SseFlops}, Probe{8, AvxFlops}, Probe{16, WideFlops}}) {
    if (undertone::LanesSupported(static_cast<Lanes>(probe.lanes))) Measure(probe, samples);
  }
  return 0;
}
