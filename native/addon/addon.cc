#include <napi.h>

#include <new>

#include "calls.h"
#include "dsp/features.h"
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
Napi::Value Guard(const Napi::CallbackInfo& info) {
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

Napi::Object Register(Napi::Env env, Napi::Object exports) {
  exports["decode"] = Napi::Function::New<Guard<DecodeCall>>(env, "decode");
  exports["openIncrementalDecoder"] =
      Napi::Function::New<Guard<OpenIncrementalDecoderCall>>(env, "openIncrementalDecoder");
  exports["decodeNext"] = Napi::Function::New<Guard<DecodeNextCall>>(env, "decodeNext");
  exports["closeIncrementalDecoder"] =
      Napi::Function::New<Guard<CloseIncrementalDecoderCall>>(env, "closeIncrementalDecoder");
  exports["extract"] = Napi::Function::New<Guard<ExtractCall>>(env, "extract");
  exports["measureSignalQuality"] =
      Napi::Function::New<Guard<MeasureSignalQualityCall>>(env, "measureSignalQuality");
  exports["trackProsody"] = Napi::Function::New<Guard<TrackProsodyCall>>(env, "trackProsody");
  exports["setEnvironmentVariable"] =
      Napi::Function::New<Guard<SetEnvironmentVariableCall>>(env, "setEnvironmentVariable");
  exports["featuresVersion"] = Napi::Number::New(env, kFeaturesVersion);
  return exports;
}

NODE_API_MODULE(undertone, Register)

}  // namespace
}  // namespace undertone
