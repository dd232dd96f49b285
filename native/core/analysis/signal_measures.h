#pragma once

#include <cstddef>
#include <vector>

namespace undertone {

// Mean position weighted by energy, in samples (MPEG-7 TemporalCentroid, without an envelope); the middle of
// silence.
size_t TemporalCentroid(const float* samples, size_t count);

struct Segment {
  double start_s;
  double end_s;
};

// Quality of mono samples with full scale 1, without what is below kPowerHighpassHz.
struct SignalQuality {
  // RMS of the speech re full scale, dB; -100 in silence or without speech.
  double level_dbfs;
  // Power of the speech less that of the noise, over the noise, dB in 0 to 60; NaN with less than 0.1 s of
  // speech. Noise: the median of frames at least 0.1 s away from speech without digital silence; with less than
  // 0.3 s of these, the quietest tenth of all 20 ms frames.
  double snr_db;
  // Highest frequency at which the mean power density of the speech is within 60 dB of its peak; 0 in silence
  // or without speech.
  double bandwidth_hz;
};

// `speech`: in seconds; overlaps and parts outside the recording are ignored. Throws kBadArgument for rates
// below 1 kHz.
SignalQuality MeasureSignalQuality(const float* samples, size_t count, int rate,
                                   const std::vector<Segment>& speech);

}  // namespace undertone
