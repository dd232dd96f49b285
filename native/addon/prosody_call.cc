#include "analysis/pitch.h"
#include "analysis/prosody.h"
#include "args.h"
#include "calls.h"

namespace undertone {

Napi::Value TrackProsodyCall(const Napi::CallbackInfo& info) {
  const Napi::Float32Array samples = ToSamples(info[0], "samples");
  if (ToInteger(info[1], "sampleRate") != kPitchRate) ThrowBadArgument("16000", "sampleRate", info[1]);
  const size_t frames = ProsodyTracker::Frames(samples.ElementLength());
  Napi::Float32Array pitch = Napi::Float32Array::New(info.Env(), frames);
  Napi::Float32Array level = Napi::Float32Array::New(info.Env(), frames);
  Napi::Float32Array tilt = Napi::Float32Array::New(info.Env(), frames);
  thread_local ProsodyTracker tracker;
  tracker.Track(samples.Data(), samples.ElementLength(), pitch.Data(), level.Data(), tilt.Data());
  Napi::Object result = Napi::Object::New(info.Env());
  result["pitchHz"] = pitch;
  result["levelDb"] = level;
  result["tiltDb"] = tilt;
  return result;
}

}  // namespace undertone
