// Times the extractor, a plain FFTW loop and the processor's peak arithmetic rate (the roofline model) on the
// first 10 s of the same samples, in turns. benchmark_features SAMPLES.f32 OUTPUT_FOLDER prints one JSON line
// a series:
// {"name", "ns": [ns/frame]}; features are left in OUTPUT_FOLDER/NAME.f32 for comparison.

#include "dsp/features.h"

#include <fftw3.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../../test/native/support/specs.h"
#include "dsp/feature_spec.h"
#include "print_list.h"
#include "processor_time.h"

namespace {

using undertone::Extractor;
using undertone::FeatureSpec;
using undertone::Lanes;

FeatureSpec LibrosaSpec() {
  FeatureSpec spec = WhisperSpec();
  spec.drop_last = false;
  spec.n_fft = 512;
  return spec;
}

FeatureSpec PlainSpec() {
  FeatureSpec spec = LibrosaSpec();
  spec.padding = undertone::Padding::kNone;
  return spec;
}

FeatureSpec MfccSpec() {
  FeatureSpec spec = PlainSpec();
  spec.n_mfcc = 13;
  return spec;
}

FeatureSpec TorchaudioSpec() {
  FeatureSpec spec = LibrosaSpec();
  spec.mel_scale = undertone::MelScale::kHtk;
  spec.mel_norm = undertone::MelNorm::kNone;
  return spec;
}

FeatureSpec KaldiReflectSpec() {
  FeatureSpec spec = KaldiSpec();
  spec.padding = undertone::Padding::kSnipEdgesFalse;
  return spec;
}

// The input of Whisper's encoder.
FeatureSpec WhisperInputSpec() {
  FeatureSpec spec = WhisperSpec();
  spec.top_db = 80;
  spec.offset = 4.0;
  spec.scale = 0.25;
  return spec;
}

// What one writes by hand: one planned FFTW transform a frame, sparse mel filters, logf.
class FftwLoop {
 public:
  explicit FftwLoop(const FeatureSpec& spec)
      : spec_(spec),
        window_(undertone::MakeWindow(spec)),
        filters_(undertone::MakeMelFilters(spec)),
        dct_(undertone::MakeDctMatrix(spec)),
        mel_(static_cast<size_t>(spec.n_mels)) {
    frame_ = fftwf_alloc_real(static_cast<size_t>(spec.n_fft));
    spectrum_ = fftwf_alloc_complex(static_cast<size_t>(spec.n_fft) / 2 + 1);
    plan_ = fftwf_plan_dft_r2c_1d(spec.n_fft, frame_, spectrum_, FFTW_MEASURE);
    for (int i = 0; i < spec.n_fft; ++i) frame_[i] = 0.0f;
  }
  ~FftwLoop() {
    fftwf_destroy_plan(plan_);
    fftwf_free(frame_);
    fftwf_free(spectrum_);
  }
  FftwLoop(const FftwLoop&) = delete;
  FftwLoop& operator=(const FftwLoop&) = delete;

  void Run(const float* samples, size_t frames, float* out) {
    for (size_t t = 0; t < frames; ++t) {
      const float* start = samples + t * static_cast<size_t>(spec_.hop_length);
      for (int i = 0; i < spec_.win_length; ++i) frame_[i] = start[i] * window_[static_cast<size_t>(i)];
      fftwf_execute(plan_);
      float* row = dct_.empty() ? out + t * mel_.size() : mel_.data();
      Mel(row);
      if (!dct_.empty()) Mfcc(row, out + t * (dct_.size() / mel_.size()));
    }
  }

 private:
  void Mel(float* row) {
    float* power = frame_power_;
    for (int k = 0; k <= spec_.n_fft / 2; ++k) {
      power[k] = spectrum_[k][0] * spectrum_[k][0] + spectrum_[k][1] * spectrum_[k][1];
    }
    const float* weights = filters_.weights.data();
    for (size_t m = 0; m < mel_.size(); ++m) {
      float sum = 0.0f;
      const float* bin = power + filters_.first[m];
      for (int k = 0; k < filters_.count[m]; ++k) sum += bin[k] * *weights++;
      row[m] = std::log10(std::max(sum, 1e-10f));
    }
  }

  void Mfcc(const float* mel, float* out) const {
    const size_t n_mfcc = dct_.size() / mel_.size();
    for (size_t c = 0; c < n_mfcc; ++c) {
      float sum = 0.0f;
      for (size_t m = 0; m < mel_.size(); ++m) sum += dct_[c * mel_.size() + m] * mel[m];
      out[c] = sum;
    }
  }

  FeatureSpec spec_;
  std::vector<float> window_;
  undertone::MelFilters filters_;
  std::vector<float> dct_;
  std::vector<float> mel_;
  float frame_power_[1024];
  float* frame_;
  fftwf_complex* spectrum_;
  fftwf_plan plan_;
};

// Independent chains: two units with a latency of four or five cycles, and sixteen registers.
constexpr int kChains = 12;
constexpr int kRepeats = 20000;

constexpr int kRounds = 300;
constexpr size_t kShortSamples = 160000;   // 10 s
constexpr size_t kLongSamples = 9600000;  // 600 s

volatile float sink;

// Returns how many multiplications and additions it did at the peak rate of a vector width.
#define DEFINE_PEAK(Name, features, lanes)                                                  \
  __attribute__((target(features), optimize("fp-contract=fast"))) double Name() {           \
    using Vector __attribute__((vector_size(4 * (lanes)))) = float;                         \
    Vector chains[kChains] = {};                                                            \
    for (int i = 0; i < kChains; ++i) chains[i] += static_cast<float>(i);                   \
    for (int repeat = 0; repeat < kRepeats; ++repeat) {                                     \
      _Pragma("GCC unroll 12") for (Vector & chain : chains) chain = chain * 0.999f + 0.5f; \
    }                                                                                       \
    for (const Vector& chain : chains) sink = chain[0];                                     \
    return 2.0 * (lanes) * kChains * kRepeats;                                              \
  }
DEFINE_PEAK(Peak4, "sse2", 4)
DEFINE_PEAK(Peak8, "avx2,fma", 8)
DEFINE_PEAK(Peak16, "avx512f", 16)

// Operations of a frame: the products of the window, 2.5 n log2 n of the real transform, 3 a bin of power, 2
// a weight of the sparse filters, 30 a filter for the logarithm with its floor, gain and offset.
double CountFlops(const FeatureSpec& spec) {
  const double n = spec.n_fft;
  const double weights = static_cast<double>(undertone::MakeMelFilters(spec).weights.size());
  return spec.win_length + 2.5 * n * std::log2(n) + 3 * (n / 2 + 1) + 2 * weights + 30 * spec.n_mels;
}

struct Series {
  std::string name;
  std::function<double()> run;  // returns the frames done
  std::vector<double> ns;       // per frame
};

// One round runs every series once, so that a warm or throttled processor is so for all of them.
void Measure(std::vector<Series>* series, int rounds) {
  for (int round = -1; round < rounds; ++round) {
    for (Series& one : *series) {
      const double start = Nanoseconds();
      const double frames = one.run();
      const double spent = Nanoseconds() - start;
      if (round >= 0) one.ns.push_back(spent / frames);
    }
  }
  for (const Series& one : *series) {
    std::printf("{\"name\":\"%s\",", one.name.c_str());
    PrintList("ns", one.ns, 1);
    std::printf("}\n");
  }
}

void Write(const std::string& path, const std::vector<float>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
}

struct Width {
  int lanes;
  double (*peak)();
};
constexpr Width kWidths[] = {{4, Peak4}, {8, Peak8}, {16, Peak16}};

// The loop, the extractor at every vector width that this processor has, and how long the operations of a
// frame take at that width's peak rate.
void Compare(const std::string& folder, const std::string& name, const FeatureSpec& spec,
             const std::vector<float>& samples) {
  FftwLoop loop(spec);
  const size_t frames = Extractor(spec).Frames(samples.size());
  const double flops = CountFlops(spec);
  std::list<std::pair<std::string, std::vector<float>>> outs;
  std::vector<Series> series;
  const auto add = [&](const std::string& end, const std::function<void(float*)>& run) {
    outs.emplace_back(name + end, std::vector<float>(frames * Extractor(spec).n_features()));
    float* out = outs.back().second.data();
    series.push_back({name + end, [=] { return run(out), static_cast<double>(frames); }, {}});
  };
  add("-fftw", [&](float* out) { loop.Run(samples.data(), frames, out); });
  for (const Width& width : kWidths) {
    if (!undertone::LanesSupported(static_cast<Lanes>(width.lanes))) continue;
    const std::string end = "-lanes" + std::to_string(width.lanes);
    const auto extractor = std::make_shared<Extractor>(spec, static_cast<Lanes>(width.lanes));
    add(end, [&, extractor](float* out) { extractor->Extract(samples.data(), samples.size(), out); });
    series.push_back({name + "-peak" + end, [=] { return width.peak() / flops; }, {}});
  }
  Measure(&series, kRounds);
  for (const auto& [file, values] : outs) Write(folder + "/" + file + ".f32", values);
}

// The extractor with vectors of `lanes`: by default the widest that this processor has, as the service runs it.
void MeasureOwn(const std::string& folder, const std::string& name, const FeatureSpec& spec,
                const std::vector<float>& samples, int rounds,
                Lanes lanes = Lanes::kAuto) {
  Extractor extractor(spec, lanes);
  const size_t frames = extractor.Frames(samples.size());
  std::vector<float> out(frames * extractor.n_features());
  const auto run = [&] {
    extractor.Extract(samples.data(), samples.size(), out.data());
    return static_cast<double>(frames);
  };
  std::vector<Series> series = {{name, run, {}}};
  Measure(&series, rounds);
  Write(folder + "/" + name + ".f32", out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: benchmark_features SAMPLES.f32 OUTPUT_FOLDER\n");
    return 2;
  }
  std::vector<float> samples(kLongSamples);
  std::ifstream(argv[1], std::ios::binary)
      .read(reinterpret_cast<char*>(samples.data()),
            static_cast<std::streamsize>(samples.size() * sizeof(float)));
  const std::vector<float> start(samples.begin(), samples.begin() + kShortSamples);
  const std::string folder = argv[2];
  Compare(folder, "log-mel", PlainSpec(), start);
  Compare(folder, "mfcc", MfccSpec(), start);
  MeasureOwn(folder, "kaldi-ours", KaldiReflectSpec(), start, kRounds);
  MeasureOwn(folder, "torchaudio-ours", TorchaudioSpec(), start, kRounds);
  MeasureOwn(folder, "torchaudio-long-ours", TorchaudioSpec(), samples, kRounds / 30);
  MeasureOwn(folder, "whisper-ours", WhisperInputSpec(), start, kRounds);
  for (const Width& width : kWidths) {
    const Lanes lanes = static_cast<Lanes>(width.lanes);
    if (!undertone::LanesSupported(lanes)) continue;
    MeasureOwn(folder, "whisper-lanes" + std::to_string(width.lanes), WhisperInputSpec(), start, kRounds, lanes);
  }
  return 0;
}
