#pragma once

#include <napi.h>

#include "decode.h"

namespace undertone {

// {sampleRate, channel, limits, cancel}; every key is required and no other is allowed.
DecodeOptions ToDecodeOptions(const Napi::Value& value);

Napi::Object ToObject(Napi::Env env, const Source& source);

}  // namespace undertone
