#pragma once

#include <napi.h>

#include <initializer_list>
#include <optional>
#include <set>
#include <string>

namespace undertone {

// A JavaScript value as an error message shows it.
std::string Describe(const Napi::Value& value);

// Throws kBadArgument: Expected X for `name`, got Y.
[[noreturn]] void Refuse(const std::string& expected, const std::string& name, const Napi::Value& got);

// An array's address and length hold until JavaScript runs next: options, whose getters are JavaScript, are
// read before it. Bytes that another thread could change during the call are refused.
Napi::Uint8Array ToBytes(const Napi::Value& value, const char* name);
Napi::Float32Array ToSamples(const Napi::Value& value, const char* name);
int ToInteger(const Napi::Value& value, const std::string& name);
double ToNumber(const Napi::Value& value, const std::string& name);

// An options object read key by key. Each reader throws kBadArgument; Close refuses the keys that nobody
// read.
class Fields {
 public:
  Fields(const Napi::Value& value, std::string name);

  Napi::Value Value(const char* key);
  int Integer(const char* key);
  double Number(const char* key);
  bool Boolean(const char* key);
  std::optional<int> IntegerOrNull(const char* key);
  std::optional<double> NumberOrNull(const char* key);

  // Index of the string among `words`, which has the order of an enum.
  int Choice(const char* key, std::initializer_list<const char*> words);
  template <typename T>
  T Word(const char* key, std::initializer_list<const char*> words) {
    return static_cast<T>(Choice(key, words));
  }

  void Close();

 private:
  Napi::Object object_;
  std::string name_;
  std::set<std::string> read_;
};

}  // namespace undertone
