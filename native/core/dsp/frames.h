#pragma once

#include <cstddef>
#include <cstdint>

#include "dsp/features.h"

namespace undertone {

// Number of frames for n samples, 0 for none. kNone: 1 + (n - length) / hop (Kaldi snip_edges=true, librosa
// center=False); kReflectCenter: 1 + n / hop (librosa center=True); kSnipEdgesFalse: (n + hop / 2) / hop.
size_t FrameCount(const FeatureSpec& spec, size_t n);

// Index of the first sample of a frame; negative in the padding.
int64_t FrameStart(const FeatureSpec& spec, size_t frame);

// Copies samples [begin, begin + length) with reflection at both ends. kReflectCenter does not repeat the
// edge sample (numpy "reflect"), kSnipEdgesFalse does (numpy "symmetric").
void CopyMirrored(const float* samples, size_t n, Padding padding, int64_t begin, size_t length, float* out);

}  // namespace undertone
