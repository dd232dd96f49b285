#include <napi.h>

#include <new>

#include "calls.h"
#include "decode/decode.h"
#include "dsp/features.h"
#include "dsp/lanes.h"
#include "dsp/resample.h"
#include "error.h"

namespace undertone {
namespace {

[[noreturn]] void Throw(Napi::Env env, ErrorCode code, const std::string& reason) {
  Napi::Error error = Napi::Error::New(env, reason);
  error.Set("code", Napi::String::New(env, CodeName(code)));
  error.Set("reason", Napi::String::New(env, reason));
  throw error;
}

// Converts exceptions to JavaScript errors with `code` and `reason`.
template <Napi::Value (*call)(const Napi::CallbackInfo&)>
Napi::Value TranslateErrors(const Napi::CallbackInfo& info) {
  try {
    return call(info);
  } catch (const Error& error) {
    Throw(info.Env(), error.code, error.what());
  } catch (const std::bad_alloc&) {
    Throw(info.Env(), ErrorCode::kInternal, "Out of memory");
  } catch (const Napi::Error&) {
    throw;
  } catch (const std::exception& error) {
    Throw(info.Env(), ErrorCode::kInternal, error.what());
  }
}

template <Napi::Value (*call)(const Napi::CallbackInfo&)>
void Export(const char* name, Napi::Object exports) {
  exports[name] = Napi::Function::New<TranslateErrors<call>>(exports.Env(), name);
}

Napi::Object LibraryVersions(Napi::Env env) {
  Napi::Object versions = Napi::Object::New(env);
  for (const auto& [name, version] : DecoderVersions()) versions[name] = Napi::String::New(env, version);
  versions["soxr"] = Napi::String::New(env, ResamplerVersion());
  return versions;
}

Napi::Object Register(Napi::Env env, Napi::Object exports) {
  Export<DecodeCall>("decode", exports);
  Export<OpenIncrementalDecoderCall>("openIncrementalDecoder", exports);
  Export<OpenChannelDecoderCall>("openChannelDecoder", exports);
  Export<DecodeNextCall>("decodeNext", exports);
  Export<CloseIncrementalDecoderCall>("closeIncrementalDecoder", exports);
  Export<ExtractCall>("extract", exports);
  Export<MeasureSignalQualityCall>("measureSignalQuality", exports);
  Export<MeasureHopsCall>("measureHops", exports);
  Export<TemporalCentroidCall>("temporalCentroid", exports);
  Export<TrackProsodyCall>("trackProsody", exports);
  Export<SetEnvironmentVariableCall>("setEnvironmentVariable", exports);
  Export<ReleaseFreeMemoryCall>("releaseFreeMemory", exports);
  Export<ReleaseSamplesCall>("releaseSamples", exports);
  exports["featuresVersion"] = Napi::Number::New(env, kFeaturesVersion);
  exports["lanes"] = Napi::Number::New(env, LaneWidth(Lanes::kAuto));
  exports["libraryVersions"] = LibraryVersions(env);
  return exports;
}

NODE_API_MODULE(undertone, Register)

}  // namespace
}  // namespace undertone
