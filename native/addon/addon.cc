#include <napi.h>

#include "calls.h"
#include "decode/decode.h"
#include "dsp/features.h"
#include "dsp/lanes.h"
#include "dsp/resample.h"

namespace undertone {

void ThrowToJavaScript(Napi::Env env, ErrorCode code, const std::string& reason) {
  Napi::Error error = Napi::Error::New(env, reason);
  error.Set("code", Napi::String::New(env, CodeName(code)));
  error.Set("reason", Napi::String::New(env, reason));
  throw error;
}

namespace {

Napi::Object LibraryVersions(Napi::Env env) {
  Napi::Object versions = Napi::Object::New(env);
  for (const auto& [name, version] : DecoderVersions()) versions[name] = Napi::String::New(env, version);
  versions["soxr"] = Napi::String::New(env, ResamplerVersion());
  return versions;
}

Napi::Object Register(Napi::Env env, Napi::Object exports) {
  ExportAnalysisCalls(exports);
  ExportDecodeCalls(exports);
  exports["featuresVersion"] = Napi::Number::New(env, kFeaturesVersion);
  exports["lanes"] = Napi::Number::New(env, LaneWidth(Lanes::kAuto));
  exports["libraryVersions"] = LibraryVersions(env);
  return exports;
}

NODE_API_MODULE(undertone, Register)

}  // namespace
}  // namespace undertone
