#include "args.h"
#include "calls.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace undertone {

// glibc raises both thresholds, up to 32 and 64 MiB, when a large block is freed: from then on blocks of that size
// are in the arenas of threads, which cannot shrink below a block in use. The thresholds set here are above
// the blocks of a recording of 10 s.
Napi::Value ReleaseFreeMemoryCall(const Napi::CallbackInfo& info) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 2 << 20);
  mallopt(M_TRIM_THRESHOLD, 4 << 20);
  malloc_trim(0);
#endif
  return info.Env().Undefined();
}

// Frees the buffer at once, without V8's collector. An empty buffer stays as it is: it holds nothing, and others may read it.
Napi::Value ReleaseSamplesCall(const Napi::CallbackInfo& info) {
  Napi::ArrayBuffer buffer = ToSamples(info[0], "samples").ArrayBuffer();
  if (buffer.ByteLength() > 0) buffer.Detach();
  return info.Env().Undefined();
}

}  // namespace undertone
