// One target under libFuzzer: UNDERTONE_FUZZ_TARGET is its function.

#include <sanitizer/allocator_interface.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "targets.h"

namespace {

constexpr size_t kMaxHeapBytes = size_t{256} << 20;  // bytes at once, what the sanitizers add not counted
constexpr double kMaxSeconds = 5;  // of the processor, sanitizers and all: the machine may be busy
constexpr size_t kCounters = 1024;

// libFuzzer takes these for branches: an outcome not seen before is worth keeping.
__attribute__((section("__libfuzzer_extra_counters"))) uint8_t outcomes[kCounters];

std::atomic<size_t> heap{0};

void Allocated(const volatile void* address, size_t size) {
  if (address == nullptr || heap.fetch_add(size) + size <= kMaxHeapBytes) return;
  std::fprintf(stderr, "Expected at most %zu bytes of memory for one input, got more\n", kMaxHeapBytes);
  std::abort();
}

void Freed(const volatile void* address) {
  if (address == nullptr) return;
  heap.fetch_sub(__sanitizer_get_allocated_size(address));
}

double ProcessorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return __sanitizer_install_malloc_and_free_hooks(Allocated, Freed) == 0 ? 1 : 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const double start = ProcessorSeconds();
  try {
    outcomes[undertone::fuzz::UNDERTONE_FUZZ_TARGET(bytes, size) % kCounters] = 1;
    undertone::fuzz::Expect(ProcessorSeconds() - start <= kMaxSeconds, "more than 5 s of work");
  } catch (const undertone::fuzz::Finding& finding) {
    std::fprintf(stderr, "Expected only what is allowed, got %s\n", finding.what);
    std::abort();
  }
  return 0;
}
