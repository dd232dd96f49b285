#include "args.h"

#include <cmath>
#include <limits>

#include "error.h"

namespace undertone {
namespace {

constexpr size_t kMaxQuotedCharacters = 60;

Napi::TypedArray ToArray(const Napi::Value& value, napi_typedarray_type type, const char* expected,
                         const char* name) {
  if (!value.IsTypedArray()) ThrowBadArgument(expected, name, value);
  const Napi::TypedArray array = value.As<Napi::TypedArray>();
  if (array.TypedArrayType() != type) ThrowBadArgument(expected, name, value);
  return array;
}

std::string Quote(const std::string& text) {
  return '"' + (text.size() > kMaxQuotedCharacters ? text.substr(0, kMaxQuotedCharacters) + "..." : text) +
         '"';
}

}  // namespace

std::string Describe(const Napi::Value& value) {
  if (value.IsString()) return Quote(value.As<Napi::String>().Utf8Value());
  if (value.IsNumber() || value.IsBoolean() || value.IsNull() || value.IsUndefined()) {
    return value.ToString().Utf8Value();
  }
  if (value.IsArray()) return "an array";
  if (value.IsTypedArray()) return "a typed array of another type or length";
  if (value.IsFunction()) return "a function";
  return value.IsObject() ? "an object" : "another type";
}

void ThrowBadArgument(const std::string& expected, const std::string& name, const Napi::Value& got) {
  throw Error(ErrorCode::kBadArgument, "Expected " + expected + " for `" + name + "`, got " + Describe(got));
}

Napi::Uint8Array ToBytes(const Napi::Value& value, const char* name) {
  const Napi::TypedArray array = ToArray(value, napi_uint8_array, "a Uint8Array", name);
  if (!array.ArrayBuffer().IsArrayBuffer()) {
    throw Error(ErrorCode::kBadArgument, std::string("Expected memory that is not shared for `") + name +
                                             "`, got a view of a SharedArrayBuffer");
  }
  return array.As<Napi::Uint8Array>();
}

Napi::Float32Array ToSamples(const Napi::Value& value, const char* name) {
  return ToArray(value, napi_float32_array, "a Float32Array", name).As<Napi::Float32Array>();
}

namespace {

// Shared memory, which nothing frees, counts as null.
const void* AddressOf(Napi::ArrayBuffer buffer) { return buffer.IsArrayBuffer() ? buffer.Data() : nullptr; }

// Of the calling thread, to which all arrays of an environment belong: the starts of buffers, once per user.
std::multiset<const void*>& BuffersInUse() {
  thread_local std::multiset<const void*> buffers;
  return buffers;
}

}  // namespace

BufferInUse::BufferInUse(Napi::ArrayBuffer buffer) : data_(AddressOf(buffer)) { BuffersInUse().insert(data_); }

BufferInUse::~BufferInUse() { BuffersInUse().erase(BuffersInUse().find(data_)); }

bool BufferInUse::Contains(Napi::ArrayBuffer buffer) { return BuffersInUse().count(AddressOf(buffer)) > 0; }

int ToInteger(const Napi::Value& value, const std::string& name) {
  if (!value.IsNumber()) ThrowBadArgument("an integer", name, value);
  const double number = value.As<Napi::Number>().DoubleValue();
  const bool fits = std::abs(number) <= std::numeric_limits<int>::max();
  if (!fits || number != std::floor(number)) ThrowBadArgument("an integer", name, value);
  return static_cast<int>(number);
}

double ToNumber(const Napi::Value& value, const std::string& name) {
  if (!value.IsNumber()) ThrowBadArgument("a finite number", name, value);
  const double number = value.As<Napi::Number>().DoubleValue();
  if (!std::isfinite(number)) ThrowBadArgument("a finite number", name, value);
  return number;
}

OptionsReader::OptionsReader(const Napi::Value& value, std::string name, std::string prefix)
    : name_(std::move(name)), prefix_(std::move(prefix)) {
  if (!value.IsObject() || value.IsArray() || value.IsTypedArray())
    ThrowBadArgument("an object", name_, value);
  object_ = value.As<Napi::Object>();
}

Napi::Value OptionsReader::Value(const char* key) {
  read_.insert(key);
  return object_.Get(key);
}

int OptionsReader::Integer(const char* key) { return ToInteger(Value(key), prefix_ + key); }

double OptionsReader::Number(const char* key) { return ToNumber(Value(key), prefix_ + key); }

bool OptionsReader::Boolean(const char* key) {
  const Napi::Value value = Value(key);
  if (!value.IsBoolean()) ThrowBadArgument("a boolean", prefix_ + key, value);
  return value.As<Napi::Boolean>().Value();
}

std::optional<int> OptionsReader::IntegerOrNull(const char* key) {
  const Napi::Value value = Value(key);
  if (value.IsNull()) return std::nullopt;
  if (!value.IsNumber()) ThrowBadArgument("an integer or null", prefix_ + key, value);
  return ToInteger(value, prefix_ + key);
}

std::optional<double> OptionsReader::NumberOrNull(const char* key) {
  const Napi::Value value = Value(key);
  if (value.IsNull()) return std::nullopt;
  if (!value.IsNumber()) ThrowBadArgument("a finite number or null", prefix_ + key, value);
  return ToNumber(value, prefix_ + key);
}

std::optional<double> OptionsReader::OptionalNumber(const char* key) {
  const Napi::Value value = Value(key);
  if (value.IsUndefined()) return std::nullopt;
  return ToNumber(value, prefix_ + key);
}

int OptionsReader::EnumIndex(const char* key, std::initializer_list<const char*> names) {
  const Napi::Value value = Value(key);
  const std::string got = value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
  std::string expected;
  int index = 0;
  for (const char* name : names) {
    if (value.IsString() && got == name) return index;
    expected += std::string(index++ == 0 ? "" : " or ") + '"' + name + '"';
  }
  ThrowBadArgument(expected, prefix_ + key, value);
}

void OptionsReader::RejectUnknownKeys() {
  const Napi::Array keys = object_.GetPropertyNames();
  for (uint32_t i = 0; i < keys.Length(); ++i) {
    const Napi::Value key = keys.Get(i);
    if (read_.count(key.ToString().Utf8Value()) > 0) continue;
    throw Error(ErrorCode::kBadArgument, "Unknown key " + Describe(key) + " in `" + name_ + '`');
  }
}

}  // namespace undertone
