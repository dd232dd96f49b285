// What JavaScript cannot reach of the process: its environment from a worker thread, the C heap, and locks of
// files.

#include <napi.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace undertone {
namespace {

// setEnvironmentVariable(name, value). In a worker thread `process.env` is a copy that native libraries do
// not see. Does not rewrite an equal value, because other threads may read the environment.
Napi::Value SetEnvironmentVariable(const Napi::CallbackInfo& info) {
  const std::string name = info[0].As<Napi::String>();
  const std::string value = info[1].As<Napi::String>();
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  const char* current = std::getenv(name.c_str());
  if (current == nullptr || value != current) setenv(name.c_str(), value.c_str(), 1);
  return info.Env().Undefined();
}

// releaseFreeMemory(): gives the free pages of the C heap back to the system.
Napi::Value ReleaseFreeMemory(const Napi::CallbackInfo& info) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  return info.Env().Undefined();
}

// lockFile(descriptor, exclusive): whether it acquired the lock (flock(2)), without waiting. The system releases
// it when the descriptor is closed, at the latest at the end of the process. Throws where files cannot be locked.
Napi::Value LockFile(const Napi::CallbackInfo& info) {
  const int descriptor = info[0].As<Napi::Number>().Int32Value();
  const int mode = info[1].As<Napi::Boolean>().Value() ? LOCK_EX : LOCK_SH;
  const bool acquired = flock(descriptor, mode | LOCK_NB) == 0;
  if (!acquired && errno != EWOULDBLOCK) throw Napi::Error::New(info.Env(), std::strerror(errno));
  return Napi::Boolean::New(info.Env(), acquired);
}

// glibc raises both thresholds, up to 32 and 64 MiB, when a large block is freed: from then on blocks of that
// size are in the arenas of threads, which cannot shrink below a block in use. The thresholds set here are
// above the blocks of a recording of 10 s.
void FixThresholds() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 8 << 20);
  mallopt(M_TRIM_THRESHOLD, 8 << 20);
#endif
}

Napi::Object Register(Napi::Env env, Napi::Object exports) {
  FixThresholds();
  exports["setEnvironmentVariable"] = Napi::Function::New<SetEnvironmentVariable>(env);
  exports["lockFile"] = Napi::Function::New<LockFile>(env);
  exports["releaseFreeMemory"] = Napi::Function::New<ReleaseFreeMemory>(env);
  return exports;
}

NODE_API_MODULE(undertone_process, Register)

}  // namespace
}  // namespace undertone
