#include <cmath>
#include <vector>

#include "analysis/signal_quality.h"
#include "args.h"
#include "calls.h"

namespace undertone {
namespace {

// Pairs of start and end in seconds.
std::vector<Segment> ToSegments(const Napi::Value& value) {
  constexpr const char* kExpected = "a Float64Array of start and end pairs";
  if (!value.IsTypedArray()) ThrowBadArgument(kExpected, "segments", value);
  const Napi::TypedArray array = value.As<Napi::TypedArray>();
  if (array.TypedArrayType() != napi_float64_array || array.ElementLength() % 2 != 0) {
    ThrowBadArgument(kExpected, "segments", value);
  }
  const Napi::Float64Array times = array.As<Napi::Float64Array>();
  std::vector<Segment> segments;
  for (size_t i = 0; i + 1 < times.ElementLength(); i += 2) segments.push_back({times[i], times[i + 1]});
  return segments;
}

}  // namespace

Napi::Value MeasureSignalQualityCall(const Napi::CallbackInfo& info) {
  const Napi::Float32Array samples = ToSamples(info[0], "samples");
  const int rate = ToInteger(info[1], "sampleRate");
  const SignalQuality quality =
      MeasureSignalQuality(samples.Data(), samples.ElementLength(), rate, ToSegments(info[2]));
  Napi::Object result = Napi::Object::New(info.Env());
  result["levelDbfs"] = quality.level_dbfs;
  result["snrDb"] = info.Env().Null();
  if (!std::isnan(quality.snr_db)) result["snrDb"] = quality.snr_db;
  result["bandwidthHz"] = quality.bandwidth_hz;
  return result;
}

}  // namespace undertone
