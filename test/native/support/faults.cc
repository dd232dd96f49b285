#include "support/faults.h"

#include <time.h>

namespace undertone::test {
namespace {

constexpr time_t kHour = 3600;

thread_local int copies_left = 0;    // up to the one that fails; 0 for none
thread_local int readings_left = 0;  // up to the one that advances; 0 for none
thread_local bool advanced = false;

// Counts down to 0 and returns whether it got there.
bool Reached(int* left) { return *left > 0 && --*left == 0; }

}  // namespace

void FailStringCopy(int n) { copies_left = n; }

void AdvanceClocks(int n) {
  readings_left = n;
  advanced = false;
}

bool ClocksAdvanced() { return advanced; }

}  // namespace undertone::test

extern "C" {

char* __real_av_strdup(const char* text);
int __real_clock_gettime(clockid_t clock, timespec* now);

char* __wrap_av_strdup(const char* text) {
  using namespace undertone::test;
  return Reached(&copies_left) ? nullptr : __real_av_strdup(text);
}

int __wrap_clock_gettime(clockid_t clock, timespec* now) {
  using namespace undertone::test;
  const int result = __real_clock_gettime(clock, now);
  if (Reached(&readings_left)) advanced = true;
  if (advanced) now->tv_sec += kHour;
  return result;
}

}  // extern "C"
