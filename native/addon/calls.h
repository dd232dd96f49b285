#pragma once

#include <napi.h>

namespace undertone {

// decode(bytes, {sampleRate, channel, limits, cancel}) -> {samples, sampleRate, seconds, source}
Napi::Value DecodeCall(const Napi::CallbackInfo& info);

// openIncrementalDecoder(bytes, options of decode, samples per call) -> decoder
Napi::Value OpenIncrementalDecoderCall(const Napi::CallbackInfo& info);

// openChannelDecoder: likewise; `samples` has those of the first channel of two, then as many of the second
Napi::Value OpenChannelDecoderCall(const Napi::CallbackInfo& info);

// decodeNext(decoder) -> {samples, declaredSeconds}; from the last samples on {samples, declaredSeconds, source}
Napi::Value DecodeNextCall(const Napi::CallbackInfo& info);

// closeIncrementalDecoder(decoder)
Napi::Value CloseIncrementalDecoderCall(const Napi::CallbackInfo& info);

// extract(samples, spec) -> {data, frames, bins}
Napi::Value ExtractCall(const Napi::CallbackInfo& info);

// measureSignalQuality(samples, sampleRate, segments) -> {levelDbfs, snrDb, bandwidthHz}
Napi::Value MeasureSignalQualityCall(const Napi::CallbackInfo& info);

// measureHops(samples, hopLength) -> {power, clipped}, one value per whole hop
Napi::Value MeasureHopsCall(const Napi::CallbackInfo& info);

// temporalCentroid(samples) -> position in samples
Napi::Value TemporalCentroidCall(const Napi::CallbackInfo& info);

// trackProsody(samples, sampleRate) -> promise of {pitchHz, levelDb, tiltDb}, one value per 10 ms
Napi::Value TrackProsodyCall(const Napi::CallbackInfo& info);

// setEnvironmentVariable(name, value): in the environment of the process
Napi::Value SetEnvironmentVariableCall(const Napi::CallbackInfo& info);

// releaseFreeMemory(): gives the free pages of the C heap back to the system, and fixes the thresholds of glibc's malloc
Napi::Value ReleaseFreeMemoryCall(const Napi::CallbackInfo& info);

// releaseSamples(samples): frees their buffer, whose views become empty
Napi::Value ReleaseSamplesCall(const Napi::CallbackInfo& info);

}  // namespace undertone
