#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "dsp/lanes.h"

namespace undertone {

// Changes whenever the results for the same samples and spec change.
constexpr int kFeaturesVersion = 1;

// kNone: whole frames only, as Kaldi snip_edges=true. kReflectCenter: librosa center=True,
// pad_mode="reflect". kSnipEdgesFalse: Kaldi snip_edges=false.
enum class Padding { kNone, kReflectCenter, kSnipEdgesFalse };
enum class Window { kHann, kHamming, kPovey };
enum class Spectrum { kPower, kMagnitude };
enum class MelScale { kHtk, kSlaney };
enum class MelNorm { kNone, kSlaney };
enum class MelTriangles { kHz, kMel };
enum class LogBase { kE, k10 };
enum class Energy { kNone, kLog };

// All parameters of the features, named as in a manifest; none has a default.
struct FeatureSpec {
  int sample_rate;  // Hz
  int win_length;   // samples per frame
  int hop_length;   // samples between frames
  Padding padding;
  bool drop_last;      // drops the last frame, as Whisper does with reflect-center
  bool remove_dc;      // subtracts the mean of each frame
  double preemphasis;  // per frame, as Kaldi; 0: none
  Window window;
  bool window_periodic;
  int n_fft;  // even, a product of 2, 3 and 5, at least win_length; frames are zero-padded at the end
  Spectrum spectrum;
  int n_mels;
  double low_hz, high_hz;  // edges of the lowest and highest triangle
  MelScale mel_scale;
  MelNorm mel_norm;
  MelTriangles mel_triangles;  // the axis on which triangles are straight: hz as librosa, mel as Kaldi
  LogBase log_base;
  double log_floor;              // minimum before the logarithm
  std::optional<double> top_db;  // floor in dB below the maximum of the recording
  double offset, scale;          // (x + offset) * scale, after the floor
  std::optional<int> n_mfcc;     // coefficients of an orthonormal DCT-II; none: log-mel
  double lifter;                 // Kaldi's cepstral lifter; 0: none
  Energy energy;                 // log: the raw log energy of the frame replaces coefficient 0
};

bool operator==(const FeatureSpec& a, const FeatureSpec& b);
inline bool operator!=(const FeatureSpec& a, const FeatureSpec& b) { return !(a == b); }

// Row-major [frames x n_features]: mel bands or MFCC coefficients.
struct Features {
  std::vector<float> data;
  size_t frames;
  size_t n_features;
};

// Computes log-mel features or MFCCs. Holds plans and scratch: one per thread. The constructor does all
// planning; a call allocates only its result.
class Extractor {
 public:
  // Throws kBadArgument when a member is out of range or the combination has no meaning.
  explicit Extractor(const FeatureSpec& spec, Lanes lanes = Lanes::kAuto);
  ~Extractor();
  Extractor(Extractor&&) noexcept;
  Extractor& operator=(Extractor&&) noexcept;

  size_t Frames(size_t sample_count) const;
  size_t n_features() const;
  // Writes Frames(n) x n_features() floats. Samples must be finite, with full scale 1.
  void Extract(const float* samples, size_t n, float* out);
  Features operator()(const float* samples, size_t n);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Throws kBadArgument for the first member that is out of range, by its name in a manifest.
void CheckFeatureSpec(const FeatureSpec& spec);

}  // namespace undertone
