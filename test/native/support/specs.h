#pragma once

#include "dsp/features.h"

// The front end of the shipped models, without Whisper's own normalisation.
inline undertone::FeatureSpec WhisperSpec() {
  using namespace undertone;
  FeatureSpec spec;
  spec.sample_rate = 16000;
  spec.win_length = 400;
  spec.hop_length = 160;
  spec.padding = Padding::kReflectCenter;
  spec.drop_last = true;
  spec.remove_dc = false;
  spec.preemphasis = 0.0;
  spec.window = Window::kHann;
  spec.window_periodic = true;
  spec.n_fft = 400;
  spec.spectrum = Spectrum::kPower;
  spec.n_mels = 80;
  spec.low_hz = 0.0;
  spec.high_hz = 8000.0;
  spec.mel_scale = MelScale::kSlaney;
  spec.mel_norm = MelNorm::kSlaney;
  spec.mel_triangles = MelTriangles::kHz;
  spec.log_base = LogBase::k10;
  spec.log_floor = 1e-10;
  spec.top_db = std::nullopt;
  spec.offset = 0.0;
  spec.scale = 1.0;
  spec.n_mfcc = std::nullopt;
  spec.lifter = 0.0;
  spec.energy = Energy::kNone;
  return spec;
}

inline undertone::FeatureSpec KaldiSpec() {
  using namespace undertone;
  FeatureSpec spec = WhisperSpec();
  spec.padding = Padding::kNone;
  spec.drop_last = false;
  spec.remove_dc = true;
  spec.preemphasis = 0.97;
  spec.window = Window::kPovey;
  spec.window_periodic = false;
  spec.n_fft = 512;
  spec.low_hz = 20.0;
  spec.mel_scale = MelScale::kHtk;
  spec.mel_norm = MelNorm::kNone;
  spec.mel_triangles = MelTriangles::kMel;
  spec.log_base = LogBase::kE;
  spec.log_floor = 1.1920928955078125e-07;
  return spec;
}

inline undertone::FeatureSpec KaldiMfccSpec() {
  using namespace undertone;
  FeatureSpec spec = KaldiSpec();
  spec.padding = Padding::kSnipEdgesFalse;
  spec.n_mels = 23;
  spec.n_mfcc = 13;
  spec.lifter = 22.0;
  spec.energy = Energy::kLog;
  return spec;
}
