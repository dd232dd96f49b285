#include <cmath>
#include <map>

#include "analysis/prosody.h"
#include "analysis/signal_measures.h"
#include "error.h"
#include "input.h"
#include "targets.h"

namespace undertone::fuzz {
namespace {

double PickSeconds(Input* input) {
  return input->Flag() ? input->Below(4000) / 1000.0 : input->Raw<double>();
}

std::vector<Segment> PickSegments(Input* input) {
  std::vector<Segment> segments(static_cast<size_t>(input->Below(8)));
  for (Segment& segment : segments) {
    segment.start_s = PickSeconds(input);
    segment.end_s = PickSeconds(input);
  }
  return segments;
}

void CheckQuality(const SignalQuality& quality, int rate) {
  Expect(std::isfinite(quality.level_dbfs), "a level that is not finite");
  Expect(std::isnan(quality.snr_db) || (quality.snr_db >= 0 && quality.snr_db <= 60),
         "a ratio outside 0 to 60");
  Expect(quality.bandwidth_hz >= 0 && quality.bandwidth_hz <= rate / 2.0, "a bandwidth outside the band");
}

void CheckTrack(const ProsodyTrack& track) {
  Expect(AllFinite(track.level_db) && AllFinite(track.tilt_db), "a level or tilt that is not finite");
  for (const float hertz : track.pitch_hz) {
    Expect(hertz == 0 || (hertz > 50 && hertz < 700), "a pitch that no voice has");
  }
}

// Plans take longer than an input does.
ProsodyTracker& Tracker(int width) {
  static std::map<int, ProsodyTracker> trackers;
  return trackers.try_emplace(width, static_cast<Lanes>(width)).first->second;
}

size_t Track(const std::vector<float>& samples, Lanes lanes, bool wild) {
  const ProsodyTrack track = Tracker(LaneWidth(lanes))(samples.data(), samples.size());
  if (!wild) CheckTrack(track);
  size_t voiced = 0;
  for (const float hertz : track.pitch_hz) voiced += hertz > 0 ? 1 : 0;
  return voiced;
}

}  // namespace

size_t Measure(const uint8_t* bytes, size_t size) {
  Input input(bytes, size);
  const int rate = input.Flag() ? 16000 : input.Raw<int32_t>();
  const auto lanes = input.PickLanes();
  const bool wild = input.Flag();
  const std::vector<Segment> segments = PickSegments(&input);
  const std::vector<float> samples = wild ? input.Floats() : input.Samples();
  size_t outcome = Track(samples, lanes, wild);
  try {
    const SignalQuality quality = MeasureSignalQuality(samples.data(), samples.size(), rate, segments);
    if (!wild) CheckQuality(quality, rate);
    outcome = outcome * 31 + static_cast<size_t>(quality.bandwidth_hz / 500);
  } catch (const Error& error) {
    Expect(error.code == ErrorCode::kBadArgument, "another error than that of an argument");
  }
  return outcome;
}

}  // namespace undertone::fuzz
