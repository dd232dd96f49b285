#include "decode/file_decoder.h"

#include <cmath>
#include <string>

#include "decode/libav_decoder.h"
#include "decode/ogg_chain.h"
#include "decode/wav_decoder.h"

namespace undertone {
namespace {

DecodeOptions CheckOptions(const uint8_t* bytes, size_t size, const DecodeOptions& options) {
  if (bytes == nullptr && size > 0)
    throw Error(ErrorCode::kBadArgument, "Expected an address for `bytes`, got null");
  CheckRange(options.sample_rate, 1000, 384000, "sampleRate");
  if (options.channel < kEachOfTwoChannels) ThrowOutOfRange("an index", "channel", options.channel);
  if (!std::isfinite(options.max_seconds) || options.max_seconds <= 0)
    ThrowOutOfRange("more than 0", "limits.seconds", options.max_seconds);
  CheckRange(options.max_channels, 1, 64, "limits.channels");
  CheckRange(options.min_source_rate, 1, options.max_source_rate, "limits.minSampleRate");
  if (!(options.deadline_seconds >= 0))
    ThrowOutOfRange("0 or more", "limits.deadlineSeconds", options.deadline_seconds);
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
  ThrowIfEmpty();
  return false;
}

void FileDecoder::ThrowIfEmpty() const {
  if (sink_.available() > 0 || sink_.total_read() > 0) return;
  if (sink_.has_input()) throw Error(ErrorCode::kEmpty, "Expected at least one sample, got none");
  const DecodeStatus status = decoder_->status();
  if (status.packets == 0 && !status.truncated) {
    throw Error(ErrorCode::kEmpty, "Expected samples in the " + probe_.container + " file, got none");
  }
  throw Error(ErrorCode::kMalformed,
              "Expected a decodable frame in the " + probe_.container + " file, got none");
}

Source FileDecoder::source() const {
  Source source = sink_.source();
  source.container = probe_.container;
  source.codec = decoder_->codec();
  source.truncated = decoder_->status().truncated;
  return source;
}

Audio Decode(const uint8_t* bytes, size_t size, const DecodeOptions& options) {
  FileDecoder decoder(bytes, size, options);
  while (decoder.Step()) continue;
  return {decoder.sink().Read(decoder.sink().available()), options.sample_rate, decoder.source()};
}

}  // namespace undertone
