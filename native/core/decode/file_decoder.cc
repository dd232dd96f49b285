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

std::unique_ptr<Decoder> Open(const uint8_t* bytes, size_t size, const ProbeResult& probe, Sink* sink) {
  bytes += probe.start;
  size -= probe.start;
  if (probe.format == ContainerFormat::kOgg) return OpenOggChain(bytes, size, probe, sink);
  std::unique_ptr<Decoder> wav = probe.format == ContainerFormat::kWav ? OpenWav(bytes, size, sink) : nullptr;
  return wav != nullptr ? std::move(wav) : OpenLibav(bytes, size, probe, sink);
}

}  // namespace

FileDecoder::FileDecoder(const uint8_t* bytes, size_t size, const DecodeOptions& options, size_t max_samples)
    : sink_(CheckOptions(bytes, size, options), max_samples) {
  sink_.budget().SetInputSize(size);
  sink_.budget().Check();
  probe_ = Probe(bytes, size);
  decoder_ = Open(bytes, size, probe_, &sink_);
}

bool FileDecoder::Step() {
  if (decoder_->Step()) return true;
  sink_.Finish();
  CheckResult();
  return false;
}

void FileDecoder::CheckResult() const {
  if (sink_.available() > 0 || sink_.total_read() > 0) return;
  if (!sink_.empty()) throw Error(ErrorCode::kEmpty, "Expected at least one sample, got none");
  const DecodeResult result = decoder_->result();
  if (result.packets == 0 && !result.truncated) {
    throw Error(ErrorCode::kEmpty, "Expected samples in the " + probe_.container + " file, got none");
  }
  throw Error(ErrorCode::kMalformed,
              "Expected a decodable frame in the " + probe_.container + " file, got none");
}

Source FileDecoder::source() const {
  Source source = sink_.source();
  source.container = probe_.container;
  source.codec = decoder_->codec();
  source.truncated = decoder_->result().truncated;
  return source;
}

Audio Decode(const uint8_t* bytes, size_t size, const DecodeOptions& options) {
  FileDecoder decoder(bytes, size, options);
  while (decoder.Step()) continue;
  return {decoder.sink().Read(decoder.sink().available()), options.sample_rate, decoder.source()};
}

}  // namespace undertone
