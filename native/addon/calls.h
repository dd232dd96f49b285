#pragma once

#include <napi.h>

namespace undertone {

// decode(bytes, {sampleRate, channel, limits, cancel}) -> {samples, sampleRate, seconds, source}
Napi::Value DecodeCall(const Napi::CallbackInfo& info);

// openChunkedDecoder(bytes, decode's options, samples a chunk) -> decoder
Napi::Value OpenChunkedDecoderCall(const Napi::CallbackInfo& info);

// decodeChunk(decoder) -> {samples, declaredSeconds}, with no samples at the end, when there is a `source`
// too
Napi::Value DecodeChunkCall(const Napi::CallbackInfo& info);

// closeChunkedDecoder(decoder): frees what it holds
Napi::Value CloseChunkedDecoderCall(const Napi::CallbackInfo& info);

// extract(samples, spec) -> {data, frames, bins}
Napi::Value ExtractCall(const Napi::CallbackInfo& info);

// measure(samples, sampleRate, segments) -> {levelDbfs, snrDb, bandwidthHz}
Napi::Value MeasureCall(const Napi::CallbackInfo& info);

// setEnvironmentVariable(name, value): in the environment that native libraries read
Napi::Value SetEnvironmentVariableCall(const Napi::CallbackInfo& info);

// voice(samples, sampleRate) -> {pitchHz, levelDb, tiltDb}, a value every 10 ms
Napi::Value VoiceCall(const Napi::CallbackInfo& info);

}  // namespace undertone
