#include <cstring>
#include <memory>

#include "args.h"
#include "calls.h"
#include "decode/chunked_decoder.h"
#include "decode_options.h"

namespace undertone {
namespace {

// A typed array that a decoder reads in each call. JavaScript may transfer or resize its memory between
// calls.
class ArrayReference {
 public:
  explicit ArrayReference(const Napi::TypedArray& array)
      : array_(Napi::Persistent(array.As<Napi::Object>())),
        data_(Address(array)),
        length_(array.ByteLength()) {}

  bool IsUnchanged() const {
    const auto array = array_.Value().As<Napi::TypedArray>();
    return array.ByteLength() == length_ && Address(array) == data_;
  }

 private:
  static const void* Address(const Napi::TypedArray& array) {
    void* data = nullptr;
    napi_get_typedarray_info(array.Env(), array, nullptr, nullptr, &data, nullptr, nullptr);
    return data;
  }

  Napi::ObjectReference array_;
  const void* data_;
  size_t length_;
};

struct OpenDecoder {
  std::unique_ptr<ArrayReference> bytes;
  std::unique_ptr<ArrayReference> cancel;   // null without one
  std::unique_ptr<ChunkedDecoder> decoder;  // null once closed
};

OpenDecoder& ToOpenDecoder(const Napi::Value& value) {
  if (!value.IsExternal()) ThrowBadArgument("a decoder from openChunkedDecoder", "decoder", value);
  return *value.As<Napi::External<OpenDecoder>>().Data();
}

void RequireUnchanged(const ArrayReference* array, const char* name) {
  if (array == nullptr || array->IsUnchanged()) return;
  throw Error(ErrorCode::kBadArgument,
              std::string("Expected the memory that the decoder was opened with for `") + name +
                  "`, got a transferred or resized buffer");
}

}  // namespace

Napi::Value OpenChunkedDecoderCall(const Napi::CallbackInfo& info) {
  Napi::Value cancel;
  const DecodeOptions options = ToDecodeOptions(info[1], &cancel);
  const int length = ToInteger(info[2], "chunkLength");
  if (length < 1) ThrowBadArgument("at least 1", "chunkLength", info[2]);
  const Napi::Uint8Array bytes = ToBytes(info[0], "bytes");
  auto opened = std::make_unique<OpenDecoder>();
  opened->bytes = std::make_unique<ArrayReference>(bytes);
  if (cancel.IsTypedArray()) opened->cancel = std::make_unique<ArrayReference>(cancel.As<Napi::TypedArray>());
  opened->decoder = std::make_unique<ChunkedDecoder>(bytes.Data(), bytes.ElementLength(), options,
                                                     static_cast<size_t>(length));
  return Napi::External<OpenDecoder>::New(info.Env(), opened.release(),
                                          [](Napi::Env, OpenDecoder* data) { delete data; });
}

Napi::Value DecodeChunkCall(const Napi::CallbackInfo& info) {
  OpenDecoder& opened = ToOpenDecoder(info[0]);
  if (!opened.decoder) ThrowBadArgument("an open decoder", "decoder", info[0]);
  RequireUnchanged(opened.bytes.get(), "bytes");
  RequireUnchanged(opened.cancel.get(), "cancel");
  const std::vector<float> chunk = opened.decoder->Next();
  Napi::Float32Array samples = Napi::Float32Array::New(info.Env(), chunk.size());
  if (!chunk.empty()) std::memcpy(samples.Data(), chunk.data(), chunk.size() * sizeof(float));
  Napi::Object result = Napi::Object::New(info.Env());
  result["samples"] = samples;
  result["declaredSeconds"] = opened.decoder->declared_seconds();
  if (chunk.empty()) result["source"] = ToObject(info.Env(), opened.decoder->source());
  return result;
}

Napi::Value CloseChunkedDecoderCall(const Napi::CallbackInfo& info) {
  OpenDecoder& opened = ToOpenDecoder(info[0]);
  opened.decoder.reset();
  opened.bytes.reset();
  opened.cancel.reset();
  return info.Env().Undefined();
}

}  // namespace undertone
