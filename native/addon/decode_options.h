#pragma once

#include <napi.h>

#include "decode/decode.h"

namespace undertone {

// {sampleRate, channel, limits, cancel}; every key is required and no other is allowed. Reads each key once;
// `cancel` gets that value where the caller keeps the options.
DecodeOptions ToDecodeOptions(const Napi::Value& value, Napi::Value* cancel = nullptr);

Napi::Object ToObject(Napi::Env env, const Source& source);

}  // namespace undertone
