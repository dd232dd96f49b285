#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "args.h"
#include "calls.h"

namespace undertone {
namespace {

// Returns false at the end of the stream.
bool ReadAll(int descriptor, void* target, size_t size) {
  auto* at = static_cast<uint8_t*>(target);
  while (size > 0) {
    const ssize_t count = read(descriptor, at, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

void Watch(int descriptor, int32_t* flags, size_t count) {
  uint32_t number;
  while (ReadAll(descriptor, &number, sizeof number)) __atomic_store_n(&flags[number % count], 1, __ATOMIC_SEQ_CST);
  kill(getpid(), SIGKILL);
}

}  // namespace

Napi::Value WatchStopsCall(const Napi::CallbackInfo& info) {
  const int descriptor = ToInteger(info[0], "descriptor");
  if (!info[1].IsTypedArray() || info[1].As<Napi::TypedArray>().TypedArrayType() != napi_int32_array ||
      info[1].As<Napi::TypedArray>().ElementLength() == 0) {
    ThrowBadArgument("an Int32Array of at least one element", "flags", info[1]);
  }
  auto flags = info[1].As<Napi::Int32Array>();
  Napi::ObjectReference reference = Napi::Persistent(flags.As<Napi::Object>());
  reference.SuppressDestruct();  // for the life of the process
  std::thread(Watch, descriptor, flags.Data(), flags.ElementLength()).detach();
  return info.Env().Undefined();
}

}  // namespace undertone
