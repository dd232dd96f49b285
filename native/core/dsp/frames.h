#pragma once

#include <cstddef>
#include <cstdint>

#include "dsp/features.h"

namespace undertone {

// Number of frames for n samples. none: 1 + (n - length) / hop (Kaldi snip_edges, librosa center=False);
// reflect-center: 1 + n / hop (librosa center=True); reflect-kaldi: (n + hop / 2) / hop. No samples give no
// frames.
size_t FrameCount(const FeatureSpec& spec, size_t n);

// Index of a frame's first sample; negative in the padding.
int64_t FrameStart(const FeatureSpec& spec, size_t frame);

// Copies samples [begin, begin + length), mirrored at both ends as the padding says, to `out`.
// reflect-center does not repeat the edge sample (numpy "reflect"), reflect-kaldi does (numpy "symmetric").
void CopyMirrored(const float* samples, size_t n, Padding padding, int64_t begin, size_t length, float* out);

}  // namespace undertone
