#include "decode_options.h"

#include <atomic>
#include <optional>

#include "args.h"

namespace undertone {
namespace {

void ReadLimits(const Napi::Value& value, DecodeOptions* options) {
  Fields limits(value, "limits");
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

int ToChannel(Fields* fields) {
  const std::optional<int> channel = fields->IntegerOrNull("channel");
  if (channel && *channel < 0)
    ThrowBadArgument("a channel number from 0 or null", "channel", fields->Value("channel"));
  return channel.value_or(-1);
}

}  // namespace

DecodeOptions ToDecodeOptions(const Napi::Value& value, Napi::Value* cancel) {
  Fields fields(value, "options");
  DecodeOptions options = {};
  options.sample_rate = fields.Integer("sampleRate");
  options.channel = ToChannel(&fields);
  ReadLimits(fields.Value("limits"), &options);
  const Napi::Value flag = fields.Value("cancel");
  fields.RejectUnknownKeys();
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
  return object;
}

}  // namespace undertone
