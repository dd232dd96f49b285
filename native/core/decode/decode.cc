#include "decode/decode.h"

#include <cmath>
#include <exception>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
}

#include "decode/audio_reader.h"
#include "decode/probe.h"
#include "decode/sink.h"

namespace undertone {
namespace {

DecodeOptions CheckOptions(const uint8_t* bytes, size_t size, const DecodeOptions& options) {
  if (bytes == nullptr && size > 0)
    throw Error(ErrorCode::kBadArgument, "Expected an address for `bytes`, got null");
  CheckRange(options.sample_rate, 1000, 384000, "sampleRate");
  if (options.channel < kEachOfTwoChannels) ThrowOutOfRange("an index", "channel", options.channel);
  if (options.track < -1) ThrowOutOfRange("an index", "track", options.track);
  if (!std::isfinite(options.max_seconds) || options.max_seconds <= 0)
    ThrowOutOfRange("more than 0", "limits.seconds", options.max_seconds);
  CheckRange(options.max_channels, 1, 64, "limits.channels");
  CheckRange(options.min_source_rate, 1, options.max_source_rate, "limits.minSampleRate");
  if (!(options.deadline_seconds >= 0))
    ThrowOutOfRange("0 or more", "limits.deadlineSeconds", options.deadline_seconds);
  return options;
}

std::unique_ptr<AudioReader> OpenReader(const uint8_t* bytes, size_t size, const ProbeResult& probe,
                                        Sink* sink) {
  bytes += probe.start;
  size -= probe.start;
  std::unique_ptr<AudioReader> wav =
      probe.format == ContainerFormat::kWav ? OpenWav(bytes, size, sink) : nullptr;
  return wav != nullptr ? std::move(wav) : OpenLibav(bytes, size, probe, sink);
}

// A file that is read into a sink, step by step.
class Recording {
 public:
  // Probes and opens the file. Keeps pointers to `bytes` and `options.cancel`. For `max_samples` see Sink.
  // Throws Error and std::bad_alloc, as Step does.
  Recording(const uint8_t* bytes, size_t size, const DecodeOptions& options, size_t max_samples = 0)
      : sink_(CheckOptions(bytes, size, options), max_samples) {
    sink_.budget().SetInputSize(size);
    sink_.budget().Check();
    probe_ = Probe(bytes, size);
    reader_ = OpenReader(bytes, size, probe_, &sink_);
  }

  // Reads the next frame or block. Returns false once the sink has the whole result.
  bool Step() {
    if (reader_->Step()) return true;
    sink_.Finish();
    ThrowIfEmpty();
    return false;
  }

  Sink& sink() { return sink_; }

  // Complete once Step has returned false.
  Source source() const {
    Source source = sink_.source();
    source.container = probe_.container;
    source.codec = reader_->codec();
    const ReadStatus status = reader_->status();
    source.truncated = status.truncated;
    source.unread_data = status.unread || probe_.skips_data;
    source.track = reader_->track().index;
    source.tracks = reader_->track().count;
    return source;
  }

 private:
  void ThrowIfEmpty() const {
    if (sink_.available() > 0 || sink_.total_read() > 0) return;
    if (sink_.has_input()) throw Error(ErrorCode::kEmpty, "Expected at least one sample, got none");
    const ReadStatus status = reader_->status();
    if (status.packets == 0 && !status.truncated) {
      throw Error(ErrorCode::kEmpty, "Expected samples in the " + probe_.container + " file, got none");
    }
    throw Error(ErrorCode::kMalformed,
                "Expected a decodable frame in the " + probe_.container + " file, got none");
  }

  Sink sink_;
  ProbeResult probe_;
  std::unique_ptr<AudioReader> reader_;
};

std::string FormatVersion(unsigned version) {
  return std::to_string(AV_VERSION_MAJOR(version)) + "." + std::to_string(AV_VERSION_MINOR(version)) + "." +
         std::to_string(AV_VERSION_MICRO(version));
}

}  // namespace

Audio Decode(const uint8_t* bytes, size_t size, const DecodeOptions& options) {
  Recording recording(bytes, size, options);
  while (recording.Step()) continue;
  Sink& sink = recording.sink();
  return {sink.Read(sink.available()), options.sample_rate, sink.ReadGaps(), recording.source()};
}

struct IncrementalDecoder::State {
  State(const uint8_t* bytes, size_t size, const DecodeOptions& options, size_t samples)
      : max_samples(samples), recording(bytes, size, options, samples) {
    recording.sink().budget().Pause();
  }

  const size_t max_samples;
  Recording recording;
  bool ended = false;
  std::exception_ptr failure;
};

IncrementalDecoder::IncrementalDecoder(const uint8_t* bytes, size_t size, const DecodeOptions& options,
                                       size_t max_samples)
    : state_(new State(bytes, size, options, max_samples)) {}

IncrementalDecoder::~IncrementalDecoder() = default;

std::vector<float> IncrementalDecoder::Next() {
  Sink& sink = state_->recording.sink();
  const BudgetScope scope(&sink.budget());
  // One sample more shows whether any follow.
  while (sink.available() <= state_->max_samples && !state_->ended && !state_->failure) {
    try {
      state_->ended = !state_->recording.Step();
    } catch (...) {
      state_->failure = std::current_exception();
    }
  }
  if (state_->failure && sink.available() < state_->max_samples) std::rethrow_exception(state_->failure);
  return sink.Read(state_->max_samples);
}

std::vector<Gap> IncrementalDecoder::NextGaps() { return state_->recording.sink().ReadGaps(); }

bool IncrementalDecoder::ended() const { return state_->ended && state_->recording.sink().available() == 0; }

double IncrementalDecoder::declared_seconds() const { return state_->recording.sink().declared_seconds(); }

Source IncrementalDecoder::source() const { return state_->recording.source(); }

std::vector<std::pair<std::string, std::string>> DecoderVersions() {
  return {
      {"libavformat", FormatVersion(avformat_version())},
      {"libavcodec", FormatVersion(avcodec_version())},
      {"libavutil", FormatVersion(avutil_version())},
  };
}

}  // namespace undertone
