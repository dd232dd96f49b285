#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "args.h"
#include "calls.h"
#include "decode/decode.h"

namespace undertone {
namespace {

void ReadLimits(OptionsReader limits, DecodeOptions* options) {
  options->max_seconds = limits.Number("seconds");
  options->max_channels = limits.Integer("channels");
  options->min_source_rate = limits.Integer("minSampleRate");
  options->max_source_rate = limits.Integer("maxSampleRate");
  options->deadline_seconds = limits.Number("deadlineSeconds");
  limits.RejectUnknownKeys();
}

// Other threads write the flag with Atomics.store, so the shared Int32Array is read as an array of atomics.
const std::atomic<int32_t>* ToCancel(const Napi::Value& value) {
  if (value.IsNull()) return nullptr;
  constexpr const char* kExpected = "an Int32Array of at least one element or null";
  if (!value.IsTypedArray()) ThrowBadArgument(kExpected, "cancel", value);
  const Napi::TypedArray array = value.As<Napi::TypedArray>();
  if (array.TypedArrayType() != napi_int32_array || array.ElementLength() == 0) {
    ThrowBadArgument(kExpected, "cancel", value);
  }
  return reinterpret_cast<const std::atomic<int32_t>*>(array.As<Napi::Int32Array>().Data());
}

// The number of a channel or track; -1 for null.
int ToNumberFrom0(OptionsReader* reader, const char* name) {
  const std::optional<int> number = reader->IntegerOrNull(name);
  if (number && *number < 0)
    ThrowBadArgument(std::string("a ") + name + " number from 0 or null", name, reader->Value(name));
  return number.value_or(-1);
}

// {sampleRate, channel, track, limits, cancel}: all keys are required, others rejected. Each key is read once.
// `cancel` receives the value of that key.
DecodeOptions ToDecodeOptions(const Napi::Value& value, Napi::Value* cancel) {
  OptionsReader reader(value, "options");
  DecodeOptions options = {};
  options.sample_rate = reader.Integer("sampleRate");
  options.channel = ToNumberFrom0(&reader, "channel");
  options.track = ToNumberFrom0(&reader, "track");
  ReadLimits(reader.Object("limits"), &options);
  const Napi::Value flag = reader.Value("cancel");
  reader.RejectUnknownKeys();
  options.cancel = ToCancel(flag);  // last: no JavaScript may run after it
  if (cancel != nullptr) *cancel = flag;
  return options;
}

Napi::Object ToObject(Napi::Env env, const Source& source) {
  Napi::Object object = Napi::Object::New(env);
  object["container"] = source.container;
  object["codec"] = source.codec;
  object["sampleRate"] = static_cast<double>(source.sample_rate);
  object["channels"] = static_cast<double>(source.channels);
  object["clippedRatio"] = source.clipped_ratio;
  object["channelCorrelation"] = source.channel_correlation;
  object["truncated"] = source.truncated;
  object["unreadData"] = source.unread_data;
  object["track"] = static_cast<double>(source.track);
  object["tracks"] = static_cast<double>(source.tracks);
  return object;
}

// Starts and ends in turn.
Napi::Float64Array ToFloat64Array(Napi::Env env, const std::vector<Gap>& gaps) {
  Napi::Float64Array array = Napi::Float64Array::New(env, 2 * gaps.size());
  for (size_t i = 0; i < gaps.size(); ++i) {
    array[2 * i] = gaps[i].start;
    array[2 * i + 1] = gaps[i].end;
  }
  return array;
}

Napi::Float32Array ToFloat32Array(Napi::Env env, const std::vector<float>& samples) {
  Napi::Float32Array array = Napi::Float32Array::New(env, samples.size());
  if (!samples.empty()) std::memcpy(array.Data(), samples.data(), samples.size() * sizeof(float));
  return array;
}

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
  std::unique_ptr<ArrayReference> cancel;       // null without one
  std::unique_ptr<IncrementalDecoder> decoder;  // null once closed
};

const Handle<OpenDecoder> kDecoder({0x3c94d7e81b60f25a, 0xb1072f8ad46e93c5},
                                   "a decoder from openIncrementalDecoder", "decoder");

void RequireUnchanged(const ArrayReference* array, const char* name) {
  if (array == nullptr || array->IsUnchanged()) return;
  throw Error(ErrorCode::kBadArgument,
              std::string("Expected the memory that the decoder was opened with for `") + name +
                  "`, got a transferred or resized buffer");
}

Napi::Value Open(const Napi::CallbackInfo& info, const DecodeOptions& options, const Napi::Value& cancel) {
  const int length = ToInteger(info[2], "maxSamples");
  if (length < 1) ThrowBadArgument("at least 1", "maxSamples", info[2]);
  const Napi::Uint8Array bytes = ToBytes(info[0], "bytes");
  auto opened = std::make_unique<OpenDecoder>();
  opened->bytes = std::make_unique<ArrayReference>(bytes);
  if (cancel.IsTypedArray()) opened->cancel = std::make_unique<ArrayReference>(cancel.As<Napi::TypedArray>());
  opened->decoder = std::make_unique<IncrementalDecoder>(bytes.Data(), bytes.ElementLength(), options,
                                                         static_cast<size_t>(length));
  return kDecoder.Create(info.Env(), std::move(opened));
}

// decode(bytes, {sampleRate, channel, track, limits, cancel}) -> {samples, sampleRate, seconds, gaps, source}
Napi::Value DecodeCall(const Napi::CallbackInfo& info) {
  const DecodeOptions options = ToDecodeOptions(info[1], nullptr);
  const Napi::Uint8Array bytes = ToBytes(info[0], "bytes");
  const Audio audio = Decode(bytes.Data(), bytes.ElementLength(), options);
  Napi::Object result = Napi::Object::New(info.Env());
  result["samples"] = ToFloat32Array(info.Env(), audio.samples);
  result["sampleRate"] = static_cast<double>(audio.sample_rate);
  result["seconds"] = static_cast<double>(audio.samples.size()) / audio.sample_rate;
  result["gaps"] = ToFloat64Array(info.Env(), audio.gaps);
  result["source"] = ToObject(info.Env(), audio.source);
  return result;
}

// openIncrementalDecoder(bytes, options of decode, samples per call) -> decoder
Napi::Value OpenIncrementalDecoderCall(const Napi::CallbackInfo& info) {
  Napi::Value cancel;
  const DecodeOptions options = ToDecodeOptions(info[1], &cancel);
  return Open(info, options, cancel);
}

// openChannelDecoder: likewise; `samples` has those of the first channel of two, then as many of the second
Napi::Value OpenChannelDecoderCall(const Napi::CallbackInfo& info) {
  Napi::Value cancel;
  DecodeOptions options = ToDecodeOptions(info[1], &cancel);
  if (options.channel >= 0) {
    ThrowBadArgument("null", "channel", Napi::Number::New(info.Env(), options.channel));
  }
  options.channel = kEachOfTwoChannels;
  return Open(info, options, cancel);
}

// decodeNext(decoder) -> {samples, gaps, declaredSeconds}; from the last samples on {samples, gaps,
// declaredSeconds, source}
Napi::Value DecodeNextCall(const Napi::CallbackInfo& info) {
  OpenDecoder& opened = kDecoder.Get(info[0]);
  if (!opened.decoder) {
    throw Error(ErrorCode::kBadArgument, "Expected an open decoder for `decoder`, got a closed one");
  }
  RequireUnchanged(opened.bytes.get(), "bytes");
  RequireUnchanged(opened.cancel.get(), "cancel");
  const std::vector<float> samples = opened.decoder->Next();
  Napi::Object result = Napi::Object::New(info.Env());
  result["samples"] = ToFloat32Array(info.Env(), samples);
  result["gaps"] = ToFloat64Array(info.Env(), opened.decoder->NextGaps());
  result["declaredSeconds"] = opened.decoder->declared_seconds();
  if (opened.decoder->ended()) result["source"] = ToObject(info.Env(), opened.decoder->source());
  return result;
}

// closeIncrementalDecoder(decoder)
Napi::Value CloseIncrementalDecoderCall(const Napi::CallbackInfo& info) {
  OpenDecoder& opened = kDecoder.Get(info[0]);
  opened.decoder.reset();
  opened.bytes.reset();
  opened.cancel.reset();
  return info.Env().Undefined();
}

// release(array): frees its buffer at once, without V8's collector; all views of it become empty.
// An empty buffer stays as it is: it holds nothing, and others may read it. One that trackProsody reads stays, too.
Napi::Value ReleaseCall(const Napi::CallbackInfo& info) {
  if (!info[0].IsTypedArray()) ThrowBadArgument("a typed array", "array", info[0]);
  Napi::ArrayBuffer buffer = info[0].As<Napi::TypedArray>().ArrayBuffer();
  if (buffer.ByteLength() > 0 && !BufferInUse::Contains(buffer)) buffer.Detach();
  return info.Env().Undefined();
}

}  // namespace

void ExportDecodeCalls(Napi::Object exports) {
  Export<DecodeCall>("decode", exports);
  Export<OpenIncrementalDecoderCall>("openIncrementalDecoder", exports);
  Export<OpenChannelDecoderCall>("openChannelDecoder", exports);
  Export<DecodeNextCall>("decodeNext", exports);
  Export<CloseIncrementalDecoderCall>("closeIncrementalDecoder", exports);
  Export<ReleaseCall>("release", exports);
}

}  // namespace undertone
