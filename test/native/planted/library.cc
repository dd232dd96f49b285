// Reads past the end as soon as it is loaded: what proves that a fault of the addon inside Node would be
// told.

namespace {

__attribute__((constructor)) void ReadPastTheEnd() {
  volatile char* const heap = new char[8];
  heap[0] = heap[8];
  delete[] heap;
}

}  // namespace
