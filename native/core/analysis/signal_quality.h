#pragma once

#include <cstddef>
#include <vector>

namespace undertone {

struct Segment {
  double start_s;
  double end_s;
};

// How good the recording is, measured over mono samples of full scale 1.
struct Quality {
  double level_dbfs;  // RMS of the speech re full scale 1; -100 for silence or without speech
  double
      snr_db;  // speech over the noise, the noise's power taken out of the speech's; 0 to 60; NaN when there
               // is less than 0.1 s of speech. Noise: what is 0.1 s or more away from speech and not digital
               // silence; with less than 0.3 s of that, the quietest tenth of the recording's 20 ms frames
  double bandwidth_hz;  // highest frequency at which the speech's mean power density is within 60 dB of its
                        // peak; 0 for silence or without speech
};

// `speech` in seconds of `samples`; overlaps and parts outside the recording count for nothing.
Quality MeasureQuality(const float* samples, size_t count, int rate, const std::vector<Segment>& speech);

}  // namespace undertone
