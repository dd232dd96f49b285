#pragma once

#include <napi.h>

#include "decode/decode.h"

namespace undertone {

// {sampleRate, channel, limits, cancel}: all keys are required, others rejected. Each key is read once.
// `cancel` receives the value of that key.
DecodeOptions ToDecodeOptions(const Napi::Value& value, Napi::Value* cancel = nullptr);

Napi::Object ToObject(Napi::Env env, const Source& source);

}  // namespace undertone
