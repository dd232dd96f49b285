#pragma once

#include <napi.h>

namespace undertone {

// decode(bytes, {sampleRate, channel, limits, cancel}) -> {samples, sampleRate, seconds, source}
Napi::Value DecodeCall(const Napi::CallbackInfo& info);

// openPieces(bytes, decode's options, samples a piece) -> pieces
Napi::Value OpenPiecesCall(const Napi::CallbackInfo& info);

// nextPiece(pieces) -> {samples, expectedSeconds}, with no samples at the end, when there is a `source` too
Napi::Value NextPieceCall(const Napi::CallbackInfo& info);

// closePieces(pieces): stops the decode and frees what it holds
Napi::Value ClosePiecesCall(const Napi::CallbackInfo& info);

// extract(samples, spec) -> {data, frames, bins}
Napi::Value ExtractCall(const Napi::CallbackInfo& info);

// measure(samples, sampleRate, segments) -> {levelDbfs, snrDb, bandwidthHz}
Napi::Value MeasureCall(const Napi::CallbackInfo& info);

// voice(samples, sampleRate) -> {pitchHz, levelDb, tiltDb}, a value every 10 ms
Napi::Value VoiceCall(const Napi::CallbackInfo& info);

}  // namespace undertone
