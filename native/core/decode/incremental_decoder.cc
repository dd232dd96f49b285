#include "decode/incremental_decoder.h"

namespace undertone {

IncrementalDecoder::IncrementalDecoder(const uint8_t* bytes, size_t size, const DecodeOptions& options,
                                       size_t max_samples)
    : max_samples_(max_samples), decoder_(bytes, size, options, max_samples) {
  decoder_.sink().budget().Pause();
}

std::vector<float> IncrementalDecoder::Next() {
  Sink& sink = decoder_.sink();
  const BudgetScope scope(&sink.budget());
  // One sample more shows whether any follow.
  while (sink.available() <= max_samples_ && !ended_ && !failure_) {
    try {
      ended_ = !decoder_.Step();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  if (failure_ && sink.available() < max_samples_) std::rethrow_exception(failure_);
  return sink.Read(max_samples_);
}

bool IncrementalDecoder::ended() { return ended_ && decoder_.sink().available() == 0; }

}  // namespace undertone
