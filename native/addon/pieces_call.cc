#include <cstring>
#include <memory>
#include <utility>

#include "args.h"
#include "calls.h"
#include "decode_options.h"
#include "pieces.h"

namespace undertone {
namespace {

// The pieces, and what keeps alive the memory that they are made from.
struct Opened {
  Napi::ObjectReference bytes;
  Napi::Reference<Napi::Value> cancel;
  std::unique_ptr<Pieces> pieces;  // null once closed
};

Opened& ToOpened(const Napi::Value& value) {
  if (!value.IsExternal()) Refuse("what openPieces gave", "pieces", value);
  return *value.As<Napi::External<Opened>>().Data();
}

}  // namespace

Napi::Value OpenPiecesCall(const Napi::CallbackInfo& info) {
  const Napi::Uint8Array bytes = ToBytes(info[0], "bytes");
  const DecodeOptions options = ToDecodeOptions(info[1]);
  const int length = ToInteger(info[2], "length");
  if (length < 1) Refuse("at least 1", "length", info[2]);
  auto opened = std::make_unique<Opened>();
  opened->bytes = Napi::Persistent(info[0].As<Napi::Object>());
  const Napi::Value cancel = info[1].As<Napi::Object>().Get("cancel");
  if (cancel.IsObject()) opened->cancel = Napi::Reference<Napi::Value>::New(cancel, 1);
  opened->pieces =
      std::make_unique<Pieces>(bytes.Data(), bytes.ElementLength(), options, static_cast<size_t>(length));
  return Napi::External<Opened>::New(info.Env(), opened.release(),
                                     [](Napi::Env, Opened* data) { delete data; });
}

Napi::Value NextPieceCall(const Napi::CallbackInfo& info) {
  Opened& opened = ToOpened(info[0]);
  if (!opened.pieces) Refuse("pieces that are open", "pieces", info[0]);
  const std::vector<float> piece = opened.pieces->Next();
  Napi::Float32Array samples = Napi::Float32Array::New(info.Env(), piece.size());
  if (!piece.empty()) std::memcpy(samples.Data(), piece.data(), piece.size() * sizeof(float));
  Napi::Object result = Napi::Object::New(info.Env());
  result["samples"] = samples;
  result["expectedSeconds"] = opened.pieces->expected_seconds();
  if (piece.empty()) result["source"] = ToObject(info.Env(), opened.pieces->source());
  return result;
}

Napi::Value ClosePiecesCall(const Napi::CallbackInfo& info) {
  ToOpened(info[0]).pieces.reset();
  return info.Env().Undefined();
}

}  // namespace undertone
