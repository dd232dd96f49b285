#include "decode/file_decoder.h"

#include <cmath>
#include <string>

#include "decode/libav_decoder.h"
#include "decode/ogg_chain.h"
#include "decode/wav_decoder.h"

namespace undertone {
namespace {

DecodeOptions CheckOptions(const uint8_t* bytes, size_t size, const DecodeOptions& options) {
  const auto require = [](bool valid, const char* reason) {
    if (!valid) throw Error(ErrorCode::kBadArgument, reason);
  };
  require(bytes != nullptr || size == 0, "Expected an address for `bytes`, got null");
  require(options.sample_rate >= 1000 && options.sample_rate <= 384000,
          "Expected 1000 to 384000 for `sampleRate`, got another number");
  require(options.channel >= -1, "Expected an index for `channel`, got a negative number");
  require(std::isfinite(options.max_seconds) && options.max_seconds > 0,
          "Expected more than 0 for `limits.seconds`, got another number");
  require(options.max_channels >= 1 && options.max_channels <= 64,
          "Expected 1 to 64 for `limits.channels`, got another number");
  require(options.min_source_rate >= 1 && options.min_source_rate <= options.max_source_rate,
          "Expected 1 to `limits.maxSampleRate` for `limits.minSampleRate`, got another number");
  require(options.deadline_seconds >= 0,
          "Expected 0 or more for `limits.deadlineSeconds`, got another number");
  return options;
}

std::unique_ptr<Decoder> Open(const uint8_t* bytes, size_t size, const Sniffed& sniffed, Sink* sink) {
  bytes += sniffed.start;
  size -= sniffed.start;
  if (sniffed.kind == Kind::kOgg) return OpenOggChain(bytes, size, sniffed, sink);
  std::unique_ptr<Decoder> wav = sniffed.kind == Kind::kWav ? OpenWav(bytes, size, sink) : nullptr;
  return wav != nullptr ? std::move(wav) : OpenLibav(bytes, size, sniffed, sink);
}

}  // namespace

FileDecoder::FileDecoder(const uint8_t* bytes, size_t size, const DecodeOptions& options, size_t chunk_length)
    : sink_(CheckOptions(bytes, size, options), chunk_length) {
  sink_.budget()->SetInputSize(size);
  sink_.budget()->Check();
  sniffed_ = Sniff(bytes, size);
  decoder_ = Open(bytes, size, sniffed_, &sink_);
}

bool FileDecoder::Step() {
  if (decoder_->Step()) return true;
  sink_.Finish();
  CheckResult();
  return false;
}

void FileDecoder::CheckResult() const {
  if (sink_.ready() > 0 || sink_.taken() > 0) return;
  if (!sink_.empty()) throw Error(ErrorCode::kEmpty, "Expected at least one sample, got none");
  const DecodeResult result = decoder_->result();
  if (result.packets == 0 && !result.truncated) {
    throw Error(ErrorCode::kEmpty, "Expected samples in the " + sniffed_.container + " file, got none");
  }
  throw Error(ErrorCode::kMalformed,
              "Expected a decodable frame in the " + sniffed_.container + " file, got none");
}

Source FileDecoder::source() const {
  Source source = sink_.source();
  source.container = sniffed_.container;
  source.codec = decoder_->codec();
  source.truncated = decoder_->result().truncated;
  return source;
}

}  // namespace undertone
