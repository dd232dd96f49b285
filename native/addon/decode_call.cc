#include <cstring>

#include "args.h"
#include "calls.h"
#include "decode/decode.h"
#include "decode_options.h"

namespace undertone {

Napi::Value DecodeCall(const Napi::CallbackInfo& info) {
  const DecodeOptions options = ToDecodeOptions(info[1]);
  const Napi::Uint8Array bytes = ToBytes(info[0], "bytes");
  const Audio audio = Decode(bytes.Data(), bytes.ElementLength(), options);
  Napi::Float32Array samples = Napi::Float32Array::New(info.Env(), audio.samples.size());
  if (!audio.samples.empty()) {
    std::memcpy(samples.Data(), audio.samples.data(), audio.samples.size() * sizeof(float));
  }
  Napi::Object result = Napi::Object::New(info.Env());
  result["samples"] = samples;
  result["sampleRate"] = static_cast<double>(audio.sample_rate);
  result["seconds"] = static_cast<double>(audio.samples.size()) / audio.sample_rate;
  result["source"] = ToObject(info.Env(), audio.source);
  return result;
}

}  // namespace undertone
