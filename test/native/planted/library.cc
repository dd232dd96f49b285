// Reads past the end when it is loaded: proves that a fault of the addon inside Node is reported.

namespace {

__attribute__((constructor)) void ReadPastTheEnd() {
  volatile char* const heap = new char[8];
  heap[0] = heap[8];
  delete[] heap;
}

}  // namespace
