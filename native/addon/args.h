#pragma once

#include <napi.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace undertone {

// Describes a value for an error message.
std::string Describe(const Napi::Value& value);

// Throws kBadArgument: Expected X for `name`, got Y.
[[noreturn]] void ThrowBadArgument(const std::string& expected, const std::string& name,
                                   const Napi::Value& got);

// Address and length of an array are valid until JavaScript runs again, so options, which may have getters,
// are read first. ToBytes rejects shared memory, which another thread could change during the call.
Napi::Uint8Array ToBytes(const Napi::Value& value, const char* name);
Napi::Float32Array ToSamples(const Napi::Value& value, const char* name);
int ToInteger(const Napi::Value& value, const std::string& name);
double ToNumber(const Napi::Value& value, const std::string& name);

// Memory that a thread of libuv's pool reads. While one exists, `release` leaves the buffer to V8's collector.
class BufferInUse {
 public:
  explicit BufferInUse(Napi::ArrayBuffer buffer);
  ~BufferInUse();
  BufferInUse(const BufferInUse&) = delete;
  BufferInUse& operator=(const BufferInUse&) = delete;

  static bool Contains(Napi::ArrayBuffer buffer);

 private:
  const void* data_;
};

// Reads an options object key by key. All readers throw kBadArgument.
class OptionsReader {
 public:
  // Errors name a key as `prefix` plus the key.
  OptionsReader(const Napi::Value& value, std::string name, std::string prefix = "");

  Napi::Value Value(const char* key);
  OptionsReader Object(const char* key) { return OptionsReader(Value(key), key, std::string(key) + "."); }
  int Integer(const char* key);
  double Number(const char* key);
  bool Boolean(const char* key);
  std::optional<int> IntegerOrNull(const char* key);
  std::optional<double> NumberOrNull(const char* key);
  std::optional<double> OptionalNumber(const char* key);

  // Reads a string as an enum whose values have the order of `names`.
  template <typename T>
  T Enum(const char* key, std::initializer_list<const char*> names) {
    return static_cast<T>(EnumIndex(key, names));
  }

  // Throws for a key that was not read.
  void RejectUnknownKeys();

 private:
  int EnumIndex(const char* key, std::initializer_list<const char*> names);

  Napi::Object object_;
  std::string name_;
  std::string prefix_;
  std::set<std::string> read_;
};

// An object of the core that JavaScript holds. Each kind has a distinct tag, so that no other object is taken for it.
template <typename T>
class Handle {
 public:
  Handle(napi_type_tag tag, const char* expected, const char* name)
      : tag_(tag), expected_(expected), name_(name) {}

  Napi::Value Create(Napi::Env env, std::unique_ptr<T> data) const {
    auto handle = Napi::External<T>::New(env, data.get(), [](Napi::Env, T* held) { delete held; });
    data.release();
    handle.TypeTag(&tag_);
    return handle;
  }

  // Throws kBadArgument for any other value.
  T& Get(const Napi::Value& value) const {
    if (!value.IsExternal() || !value.As<Napi::External<T>>().CheckTypeTag(&tag_)) {
      ThrowBadArgument(expected_, name_, value);
    }
    return *value.As<Napi::External<T>>().Data();
  }

 private:
  napi_type_tag tag_;
  const char* expected_;
  const char* name_;
};

}  // namespace undertone
