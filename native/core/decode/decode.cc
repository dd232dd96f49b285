#include "decode/decode.h"

#include "decode/file_decoder.h"

namespace undertone {

Audio Decode(const uint8_t* bytes, size_t size, const DecodeOptions& options) {
  FileDecoder decoder(bytes, size, options);
  while (decoder.Step()) continue;
  return {decoder.sink()->Take(decoder.sink()->ready()), options.sample_rate, decoder.source()};
}

}  // namespace undertone
