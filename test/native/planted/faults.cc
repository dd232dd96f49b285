// Injects the fault named by the argument: proves that the sanitizer reports it.

#include <climits>
#include <string>
#include <thread>
#include <vector>

namespace {

volatile int sink;

void ReadPastTheEnd() {
  const std::vector<int> heap(4);
  const volatile int* at = heap.data();
  sink = at[4];
}

void OverflowAnInteger() {
  const volatile int largest = INT_MAX;
  sink = largest + 1;
}

void RaceForAnInteger() {
  int count = 0;
  std::thread other([&] { ++count; });
  ++count;
  other.join();
  sink = count;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string fault = count > 1 ? arguments[1] : "";
  if (fault == "address") ReadPastTheEnd();
  if (fault == "undefined") OverflowAnInteger();
  if (fault == "thread") RaceForAnInteger();
  return 0;
}
