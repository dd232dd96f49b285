#include <cstdlib>
#include <mutex>
#include <string>

#include "args.h"
#include "calls.h"

namespace undertone {
namespace {

std::string ToText(const Napi::Value& value, const char* name) {
  if (!value.IsString()) ThrowBadArgument("a string", name, value);
  return value.As<Napi::String>();
}

}  // namespace

// In a worker thread `process.env` is a copy that native libraries do not see. Does not rewrite an equal
// value, because other threads may read the environment.
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
