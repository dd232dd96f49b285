#pragma once

// The parameters of features, and the frames and arrays that they define.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace undertone {

// kNone: whole frames only, as Kaldi snip_edges=true. kReflectCenter: librosa center=True,
// pad_mode="reflect". kSnipEdgesFalse: Kaldi snip_edges=false.
enum class Padding { kNone, kReflectCenter, kSnipEdgesFalse };
enum class Window { kHann, kHamming, kPovey };
enum class Spectrum { kPower, kMagnitude };
enum class MelScale { kHtk, kSlaney };
enum class MelNorm { kNone, kSlaney };
enum class MelTriangles { kHz, kMel };
enum class LogBase { kE, k10, kNone };  // kNone: no logarithm
enum class Energy { kNone, kLog };

// All parameters of the features, named as in a manifest; none has a default.
struct FeatureSpec {
  int sample_rate;  // Hz
  std::optional<double> highpass_hz;  // samples pass a Highpass with this cutoff first; none: no filter
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

// Throws kBadArgument for the first member that is out of range, by its name in a manifest.
void CheckFeatureSpec(const FeatureSpec& spec);

// Number of frames for n samples, 0 for none. kNone: 1 + (n - length) / hop (Kaldi snip_edges=true, librosa
// center=False); kReflectCenter: 1 + n / hop (librosa center=True); kSnipEdgesFalse: (n + hop / 2) / hop.
size_t FrameCount(const FeatureSpec& spec, size_t n);

// Index of the first sample of a frame; negative in the padding.
int64_t FrameStart(const FeatureSpec& spec, size_t frame);

// win_length weights; a periodic window divides the phase by win_length, a symmetric one by win_length - 1.
std::vector<float> MakeWindow(const FeatureSpec& spec);

// Sparse triangular filters: filter m weights spectrum bins [first[m], first[m] + count[m]) with the next
// count[m] entries of `weights`.
struct MelFilters {
  std::vector<int> first;
  std::vector<int> count;
  std::vector<float> weights;
};

MelFilters MakeMelFilters(const FeatureSpec& spec);

// Row-major [n_mfcc x n_mels]: orthonormal DCT-II (row 0 scaled by sqrt(1/N), the others by sqrt(2/N); scipy
// norm="ortho", Kaldi), row i times Kaldi's lifter 1 + Q/2 sin(pi i / Q). Empty without n_mfcc.
std::vector<float> MakeDctMatrix(const FeatureSpec& spec);

}  // namespace undertone
