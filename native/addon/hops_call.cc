#include "analysis/hops.h"
#include "args.h"
#include "calls.h"
#include "error.h"

namespace undertone {

Napi::Value MeasureHopsCall(const Napi::CallbackInfo& info) {
  const Napi::Float32Array samples = ToSamples(info[0], "samples");
  const int length = ToInteger(info[1], "hopLength");
  if (length < 1) ThrowOutOfRange("at least 1", "hopLength", length);
  const size_t count = samples.ElementLength() / static_cast<size_t>(length);
  Napi::Float32Array power = Napi::Float32Array::New(info.Env(), count);
  Napi::Float32Array clipped = Napi::Float32Array::New(info.Env(), count);
  MeasureHops(samples.Data(), static_cast<size_t>(length), count, power.Data(), clipped.Data());
  Napi::Object result = Napi::Object::New(info.Env());
  result["power"] = power;
  result["clipped"] = clipped;
  return result;
}

Napi::Value TemporalCentroidCall(const Napi::CallbackInfo& info) {
  const Napi::Float32Array samples = ToSamples(info[0], "samples");
  const size_t centroid = TemporalCentroid(samples.Data(), samples.ElementLength());
  return Napi::Number::New(info.Env(), static_cast<double>(centroid));
}

}  // namespace undertone
