#include "decode.h"

#include <cmath>
#include <string>
#include <vector>

#include "decode_libav.h"
#include "decode_ogg.h"
#include "decode_sink.h"
#include "decode_sniff.h"
#include "decode_wav.h"

namespace undertone {
namespace {

void CheckOptions(const uint8_t* bytes, size_t size, const DecodeOptions& options) {
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
}

void RequireFrames(const Sink& sink, const Reading& reading, const Sniffed& sniffed) {
  if (!sink.empty()) return;
  if (reading.packets == 0 && !reading.truncated) {
    throw Error(ErrorCode::kEmpty, "Expected samples in the " + sniffed.container + " file, got none");
  }
  throw Error(ErrorCode::kMalformed,
              "Expected a decodable frame in the " + sniffed.container + " file, got none");
}

bool IsDamage(const Error& error) {
  return error.code == ErrorCode::kMalformed || error.code == ErrorCode::kUnsupported;
}

// Links are counted as packets are: see CountSeconds.
void CheckLinks(const uint8_t* bytes, const std::vector<size_t>& links, size_t from, const Sniffed& sniffed,
                const Sink& sink) {
  const double most = sink.watch().max_seconds() + 1;
  double seconds = sink.seconds();
  try {
    for (size_t i = from; i + 1 < links.size() && seconds <= most; ++i) {
      seconds +=
          CountSeconds(bytes + links[i], links[i + 1] - links[i], sniffed, sink.watch(), 0, most - seconds);
    }
  } catch (const Error& error) {
    if (!IsDamage(error)) throw;
  }
  sink.CheckSeconds(seconds - 1);
}

// One after the other; damage after the first link ends the file there.
Reading DecodeOgg(const uint8_t* bytes, size_t size, const Sniffed& sniffed, Sink* sink, Source* source) {
  std::vector<size_t> links = OggLinks(bytes, size);
  links.push_back(size);
  bool counted = false;
  Reading all;
  for (size_t i = 0; i + 1 < links.size(); ++i) {
    if (!counted && sink->seconds() > kUnforeseen) {
      counted = true;
      CheckLinks(bytes, links, i, sniffed, *sink);
    }
    Source link;
    try {
      const Reading reading = DecodeLibav(bytes + links[i], links[i + 1] - links[i], sniffed, sink, &link);
      all.packets += reading.packets;
      all.truncated = all.truncated || reading.truncated;
    } catch (const Error& error) {
      if (i == 0 || !IsDamage(error)) throw;
      all.truncated = true;
    }
    if (source->codec.empty()) source->codec = link.codec;
  }
  return all;
}

// Everything but the last samples, which the sink still holds.
void Fill(const uint8_t* bytes, size_t size, const DecodeOptions& options, Sink* sink, Source* named) {
  CheckOptions(bytes, size, options);
  sink->Face(size);
  sink->watch().Check();
  const Sniffed sniffed = Sniff(bytes, size);
  bytes += sniffed.start;
  size -= sniffed.start;
  Source source;
  if (sniffed.kind != Kind::kWav || !DecodeWav(bytes, size, sink, &source)) {
    const auto decode = sniffed.kind == Kind::kOgg ? DecodeOgg : DecodeLibav;
    const Reading reading = decode(bytes, size, sniffed, sink, &source);
    RequireFrames(*sink, reading, sniffed);
    source.truncated = reading.truncated;
  }
  named->container = sniffed.container;
  named->codec = source.codec;
  named->truncated = source.truncated;
}

// What the sink made of `bytes`; `taken` samples of it went elsewhere.
Audio FinishAs(const Source& named, Sink* sink, size_t taken) {
  Audio audio = sink->Finish();
  audio.source.container = named.container;
  audio.source.codec = named.codec;
  audio.source.truncated = named.truncated;
  if (audio.samples.empty() && taken == 0) {
    throw Error(ErrorCode::kEmpty, "Expected at least one sample, got none");
  }
  return audio;
}

}  // namespace

Audio Decode(const uint8_t* bytes, size_t size, const DecodeOptions& options) {
  Sink sink(options);
  Source named;
  Fill(bytes, size, options, &sink, &named);
  return FinishAs(named, &sink, 0);
}

Source DecodeTo(const uint8_t* bytes, size_t size, const DecodeOptions& options, const Taker& taker) {
  Sink sink(options, &taker);
  Source named;
  Fill(bytes, size, options, &sink, &named);
  Audio audio = FinishAs(named, &sink, sink.taken());
  if (!audio.samples.empty()) taker.take(audio.samples);
  return audio.source;
}

}  // namespace undertone
