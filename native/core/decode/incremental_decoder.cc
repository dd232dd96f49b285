#include "decode/chunked_decoder.h"

namespace undertone {

ChunkedDecoder::ChunkedDecoder(const uint8_t* bytes, size_t size, const DecodeOptions& options,
                               size_t chunk_length)
    : chunk_length_(chunk_length), decoder_(bytes, size, options, chunk_length) {
  decoder_.sink().budget().Pause();
}

std::vector<float> ChunkedDecoder::Next() {
  Sink& sink = decoder_.sink();
  const BudgetScope scope(&sink.budget());
  while (sink.available() < chunk_length_ && !ended_ && !failure_) {
    try {
      ended_ = !decoder_.Step();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  if (failure_ && sink.available() < chunk_length_) std::rethrow_exception(failure_);
  return sink.Read(chunk_length_);
}

}  // namespace undertone
