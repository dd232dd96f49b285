// Processor time, so that what else runs on the machine does not count.

#ifndef UNDERTONE_BENCHMARKS_PROCESSOR_TIME_H_
#define UNDERTONE_BENCHMARKS_PROCESSOR_TIME_H_

#include <ctime>

// Nanoseconds that this thread has run; every benchmark has one thread.
inline double Nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <typename Work>
double Milliseconds(Work work) {
  const double start = Nanoseconds();
  work();
  return (Nanoseconds() - start) / 1e6;
}

#endif
