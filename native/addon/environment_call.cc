#include <cstdlib>
#include <mutex>
#include <string>

#include "args.h"
#include "calls.h"

namespace undertone {
namespace {

std::string ToText(const Napi::Value& value, const char* name) {
  if (!value.IsString()) Refuse("a string", name, value);
  return value.As<Napi::String>();
}

}  // namespace

// In a worker thread `process.env` is a copy that native libraries do not see. Other threads may read the
// environment at the same time, so a variable that has the value already is not written again.
Napi::Value SetEnvironmentVariableCall(const Napi::CallbackInfo& info) {
  const std::string name = ToText(info[0], "name");
  const std::string value = ToText(info[1], "value");
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  const char* current = std::getenv(name.c_str());
  if (current == nullptr || value != current) setenv(name.c_str(), value.c_str(), 1);
  return info.Env().Undefined();
}

}  // namespace undertone
