// Times the extractor and a plain FFTW loop on the same samples, in turns.
// benchmark_features SAMPLES.f32 OUTPUT_FOLDER prints one JSON line a series: {"name", "frames", "ns":
// [ns/frame]}; features are left in OUTPUT_FOLDER/NAME.f32 for comparison.

#include "dsp/features.h"

#include <fftw3.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "../../test/native/support/specs.h"
#include "dsp/mel.h"
#include "dsp/mfcc.h"
#include "dsp/window.h"
#include "print_list.h"
#include "processor_time.h"
#include "samples.h"

namespace {

using undertone::Extractor;
using undertone::Features;
using undertone::FeatureSpec;
using undertone::Lanes;

constexpr size_t kShortSamples = 160000;  // 10 s

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

// As Whisper's encoder is given them.
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

struct Series {
  std::string name;
  size_t frames;
  std::function<void()> run;
  std::vector<double> ns;
};

double Time(const std::function<void()>& run) {
  const double start = Nanoseconds();
  run();
  return Nanoseconds() - start;
}

// One round runs every series once, so that a warm or throttled processor is so for all of them.
void Measure(std::vector<Series>* series, int rounds) {
  for (Series& one : *series) one.run();
  for (int round = 0; round < rounds; ++round) {
    for (Series& one : *series) one.ns.push_back(Time(one.run) / static_cast<double>(one.frames));
  }
}

void Print(const std::vector<Series>& series) {
  for (const Series& one : series) {
    std::printf("{\"name\":\"%s\",\"frames\":%zu,", one.name.c_str(), one.frames);
    PrintList("ns", one.ns, 1);
    std::printf("}\n");
  }
}

void Write(const std::string& path, const std::vector<float>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(float)));
}

class Bench {
 public:
  Bench(std::vector<float> samples, std::string folder)
      : samples_(std::move(samples)), folder_(std::move(folder)) {}

  // The widest vectors this processor has, as the product runs.
  void Ours(const std::string& name, const FeatureSpec& spec, size_t n, int rounds) {
    Extractor extractor(spec);
    std::vector<float> out(extractor.Frames(n) * extractor.n_features());
    std::vector<Series> series;
    series.push_back(
        {name, extractor.Frames(n), [&] { extractor.Extract(samples_.data(), n, out.data()); }, {}});
    Measure(&series, rounds);
    Print(series);
    Write(folder_ + "/" + name + ".f32", out);
  }

  void AgainstFftw(const std::string& name, const FeatureSpec& spec) {
    FftwLoop loop(spec);
    std::vector<Extractor> extractors;
    std::vector<int> widths;
    for (int lanes : {4, 8, 16}) {
      if (!undertone::LanesSupported(static_cast<Lanes>(lanes))) continue;
      extractors.emplace_back(spec, static_cast<Lanes>(lanes));
      widths.push_back(lanes);
    }
    const size_t frames = extractors[0].Frames(kShortSamples);
    std::vector<std::vector<float>> outs(extractors.size() + 1,
                                         std::vector<float>(frames * extractors[0].n_features()));
    std::vector<Series> series;
    series.push_back(
        {name + "-fftw", frames, [&] { loop.Run(samples_.data(), frames, outs[0].data()); }, {}});
    for (size_t i = 0; i < extractors.size(); ++i) {
      const auto run = [&, i] { extractors[i].Extract(samples_.data(), kShortSamples, outs[i + 1].data()); };
      series.push_back({name + "-lanes" + std::to_string(widths[i]), frames, run, {}});
    }
    Measure(&series, 300);
    Print(series);
    for (size_t i = 0; i < series.size(); ++i) Write(folder_ + "/" + series[i].name + ".f32", outs[i]);
  }

 private:
  std::vector<float> samples_;
  std::string folder_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: benchmark_features SAMPLES.f32 OUTPUT_FOLDER\n");
    return 2;
  }
  std::vector<float> samples = ReadSamples(argv[1]);
  const size_t all = samples.size();
  Bench bench(std::move(samples), argv[2]);
  bench.AgainstFftw("log-mel", PlainSpec());
  bench.AgainstFftw("mfcc", MfccSpec());
  bench.Ours("kaldi-ours", KaldiReflectSpec(), kShortSamples, 300);
  bench.Ours("librosa-ours", LibrosaSpec(), kShortSamples, 300);
  bench.Ours("torchaudio-ours", TorchaudioSpec(), kShortSamples, 300);
  bench.Ours("torchaudio-long-ours", TorchaudioSpec(), all, 10);
  bench.Ours("whisper-ours", WhisperInputSpec(), kShortSamples, 300);
  bench.Ours("mfcc-ours", MfccSpec(), kShortSamples, 300);
  return 0;
}
