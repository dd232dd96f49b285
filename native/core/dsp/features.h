#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "dsp/lanes.h"

namespace undertone {

// Changes whenever the same samples and spec would give other numbers than before.
constexpr int kFeaturesVersion = 1;

enum class Padding { kNone, kReflectCenter, kReflectKaldi };
enum class Window { kHann, kHamming, kPovey };
enum class Spectrum { kPower, kMagnitude };
enum class MelScale { kHtk, kSlaney };
enum class MelNorm { kNone, kSlaney };
enum class MelTriangles { kHz, kMel };
enum class LogBase { kE, k10 };
enum class Energy { kNone, kLog };

// Everything that decides a feature's value; there are no defaults. docs/features.md has a line for each
// member.
struct FeatureSpec {
  int sample_rate;     // Hz
  int frame_length;    // samples
  int hop;             // samples
  Padding padding;     // none: whole frames only; reflect-center: librosa pad_mode="reflect"; reflect-kaldi:
                       // snip_edges=false
  bool drop_last;      // Whisper drops the last frame of reflect-center
  bool remove_dc;      // subtract each frame's mean
  double preemphasis;  // per frame, as Kaldi; 0 = none
  Window window;
  bool window_periodic;
  int fft_length;  // even, a product of 2, 3 and 5, at least frame_length; frames are zero-padded at the end
  Spectrum spectrum;
  int bins;                // mel bins
  double low_hz, high_hz;  // edges of the lowest and highest triangle
  MelScale mel_scale;
  MelNorm mel_norm;
  MelTriangles mel_triangles;  // the axis on which triangles are straight: hz as librosa, mel as Kaldi
  LogBase log_base;
  double log_floor;                     // applied before the logarithm
  std::optional<double> dynamic_range;  // log units below the recording's maximum at which values are floored
  double offset, scale;                 // (x + offset) * scale, after the floor
  std::optional<int> coefficients;      // MFCC: this many of an orthonormal DCT-II
  double lifter;                        // Kaldi's cepstral lifter; 0 = none
  Energy energy;                        // log: the frame's raw log energy replaces coefficient 0
};

bool operator==(const FeatureSpec& a, const FeatureSpec& b);
inline bool operator!=(const FeatureSpec& a, const FeatureSpec& b) { return !(a == b); }

// Row-major [frames x bins]; bins is the number of columns (mel bins or coefficients).
struct Features {
  std::vector<float> data;
  size_t frames;
  size_t bins;
};

// Holds plans and scratch: one per thread. Construction plans everything; a call allocates only its result.
class Extractor {
 public:
  // Throws kBadArgument when a member is out of range or the combination has no meaning.
  explicit Extractor(const FeatureSpec& spec, Lanes lanes = Lanes::kAuto);
  ~Extractor();
  Extractor(Extractor&&) noexcept;
  Extractor& operator=(Extractor&&) noexcept;

  size_t Frames(size_t sample_count) const;
  size_t Bins() const;
  // Writes Frames(n) x Bins() floats to `out`. Samples are expected in [-1, 1], and finite.
  void Extract(const float* samples, size_t n, float* out);
  Features operator()(const float* samples, size_t n);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Throws kBadArgument naming the first member that is out of range, with the names of the manifest.
void CheckSpec(const FeatureSpec& spec);

}  // namespace undertone
