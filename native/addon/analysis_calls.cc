#include <cmath>
#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/prosody.h"
#include "analysis/signal_measures.h"
#include "analysis/stream_filter.h"
#include "args.h"
#include "calls.h"
#include "dsp/features.h"
#include "error.h"

namespace undertone {
namespace {

constexpr size_t kMaxCachedExtractors = 8;
// V8 aborts the process when it cannot allocate an array buffer.
constexpr size_t kMaxValues = size_t{1} << 29;

// The `features` object of a manifest: all keys but `highpassHz` are required, others rejected.
FeatureSpec ToFeatureSpec(const Napi::Value& value) {
  OptionsReader reader(value, "spec");
  FeatureSpec spec;
  spec.sample_rate = reader.Integer("sampleRate");
  spec.highpass_hz = reader.OptionalNumber("highpassHz");
  spec.win_length = reader.Integer("winLength");
  spec.hop_length = reader.Integer("hopLength");
  spec.padding = reader.Enum<Padding>("padding", {"none", "reflect-center", "snip-edges-false"});
  spec.drop_last = reader.Boolean("dropLast");
  spec.remove_dc = reader.Boolean("removeDc");
  spec.preemphasis = reader.Number("preemphasis");
  spec.window = reader.Enum<Window>("window", {"hann", "hamming", "povey"});
  spec.window_periodic = reader.Boolean("windowPeriodic");
  spec.n_fft = reader.Integer("nFft");
  spec.spectrum = reader.Enum<Spectrum>("spectrum", {"power", "magnitude"});
  spec.n_mels = reader.Integer("nMels");
  spec.low_hz = reader.Number("lowHz");
  spec.high_hz = reader.Number("highHz");
  spec.mel_scale = reader.Enum<MelScale>("melScale", {"htk", "slaney"});
  spec.mel_norm = reader.Enum<MelNorm>("melNorm", {"none", "slaney"});
  spec.mel_triangles = reader.Enum<MelTriangles>("melTriangles", {"hz", "mel"});
  spec.log_base = reader.Enum<LogBase>("logBase", {"e", "10"});
  spec.log_floor = reader.Number("logFloor");
  spec.top_db = reader.NumberOrNull("topDb");
  spec.offset = reader.Number("offset");
  spec.scale = reader.Number("scale");
  spec.n_mfcc = reader.IntegerOrNull("nMfcc");
  spec.lifter = reader.Number("lifter");
  spec.energy = reader.Enum<Energy>("energy", {"none", "log"});
  reader.RejectUnknownKeys();
  return spec;
}

using SharedExtractor = std::shared_ptr<Extractor>;

const Handle<SharedExtractor> kExtractor({0x7a1f5e0c92d84b36, 0x8e3b60d1c5f7a924},
                                         "an extractor from createExtractor", "extractor");

// Extractors of the calling thread, most recently used first: equal specs share one.
SharedExtractor CachedExtractor(const FeatureSpec& spec) {
  thread_local std::list<std::pair<FeatureSpec, SharedExtractor>> cache;
  for (auto entry = cache.begin(); entry != cache.end(); ++entry) {
    if (entry->first != spec) continue;
    cache.splice(cache.begin(), cache, entry);
    return cache.front().second;
  }
  cache.emplace_front(spec, std::make_shared<Extractor>(spec));
  if (cache.size() > kMaxCachedExtractors) cache.pop_back();
  return cache.front().second;
}

// createExtractor(spec) -> extractor
Napi::Value CreateExtractorCall(const Napi::CallbackInfo& info) {
  const SharedExtractor extractor = CachedExtractor(ToFeatureSpec(info[0]));
  return kExtractor.Create(info.Env(), std::make_unique<SharedExtractor>(extractor));
}

// extract(samples, extractor) -> {data, frames, bins}
Napi::Value ExtractCall(const Napi::CallbackInfo& info) {
  Extractor& extractor = *kExtractor.Get(info[1]);
  const Napi::Float32Array samples = ToSamples(info[0], "samples");
  const size_t frames = extractor.Frames(samples.ElementLength());
  const size_t n_features = extractor.n_features();
  if (frames > kMaxValues / n_features) {
    throw Error(ErrorCode::kBadArgument, "Expected at most " + std::to_string(kMaxValues) +
                                             " feature values for `samples`, got " + std::to_string(frames) +
                                             " frames of " + std::to_string(n_features));
  }
  Napi::Float32Array data = Napi::Float32Array::New(info.Env(), frames * n_features);
  extractor.Extract(samples.Data(), samples.ElementLength(), data.Data());
  Napi::Object result = Napi::Object::New(info.Env());
  result["data"] = data;
  result["frames"] = static_cast<double>(frames);
  result["bins"] = static_cast<double>(n_features);
  return result;
}

// The state of a stream is an array of doubles in JavaScript, empty at the start.
constexpr size_t kStateValues = sizeof(StreamFilter::State) / sizeof(double);

StreamFilter::State ToStreamState(const Napi::Value& value) {
  constexpr const char* kExpected = "an empty Float64Array or the state that filterStream returned";
  if (!value.IsTypedArray()) ThrowBadArgument(kExpected, "state", value);
  const Napi::TypedArray array = value.As<Napi::TypedArray>();
  const size_t length = array.ElementLength();
  if (array.TypedArrayType() != napi_float64_array || (length != 0 && length != kStateValues)) {
    ThrowBadArgument(kExpected, "state", value);
  }
  StreamFilter::State state = {};
  if (length > 0) std::memcpy(&state, array.As<Napi::Float64Array>().Data(), sizeof state);
  constexpr double kMaxSamples = 0x1p53;
  const double samples = state.highpass.count;
  if (!(samples >= 0 && samples < kMaxSamples && samples == std::floor(samples))) {
    ThrowBadArgument(kExpected, "state", value);
  }
  return state;
}

// filterStream(samples, state, {sampleRate, hopLength, highpassHz}) -> {power, clipped, state}: filters the next
// samples of a stream in place; one value per hop that ends in them
Napi::Value FilterStreamCall(const Napi::CallbackInfo& info) {
  OptionsReader reader(info[2], "options");
  const int rate = reader.Integer("sampleRate");
  const int hop_length = reader.Integer("hopLength");
  const std::optional<double> highpass_hz = reader.OptionalNumber("highpassHz");
  reader.RejectUnknownKeys();
  CheckRange(rate, 1000, 384000, "sampleRate");
  CheckRange(hop_length, 1, 32768, "hopLength");
  if (highpass_hz) CheckRange(*highpass_hz, 10, 200, "highpassHz");
  StreamFilter::State state = ToStreamState(info[1]);
  Napi::Float32Array samples = ToSamples(info[0], "samples");
  const StreamFilter filter(rate, static_cast<size_t>(hop_length), highpass_hz);
  const size_t hops = filter.Hops(state, samples.ElementLength());
  Napi::Float32Array power = Napi::Float32Array::New(info.Env(), hops);
  Napi::Float32Array clipped = Napi::Float32Array::New(info.Env(), hops);
  filter.Run(samples.Data(), samples.ElementLength(), &state, power.Data(), clipped.Data());
  Napi::Float64Array next = Napi::Float64Array::New(info.Env(), kStateValues);
  std::memcpy(next.Data(), &state, sizeof state);
  Napi::Object result = Napi::Object::New(info.Env());
  result["power"] = power;
  result["clipped"] = clipped;
  result["state"] = next;
  return result;
}

// temporalCentroid(samples) -> position in samples
Napi::Value TemporalCentroidCall(const Napi::CallbackInfo& info) {
  const Napi::Float32Array samples = ToSamples(info[0], "samples");
  const size_t centroid = TemporalCentroid(samples.Data(), samples.ElementLength());
  return Napi::Number::New(info.Env(), static_cast<double>(centroid));
}

// Pairs of start and end in seconds.
std::vector<Segment> ToSegments(const Napi::Value& value) {
  constexpr const char* kExpected = "a Float64Array of start and end pairs";
  if (!value.IsTypedArray()) ThrowBadArgument(kExpected, "segments", value);
  const Napi::TypedArray array = value.As<Napi::TypedArray>();
  if (array.TypedArrayType() != napi_float64_array || array.ElementLength() % 2 != 0) {
    ThrowBadArgument(kExpected, "segments", value);
  }
  const Napi::Float64Array times = array.As<Napi::Float64Array>();
  std::vector<Segment> segments;
  for (size_t i = 0; i + 1 < times.ElementLength(); i += 2) segments.push_back({times[i], times[i + 1]});
  return segments;
}

// measureSignalQuality(samples, sampleRate, segments) -> {levelDbfs, snrDb, bandwidthHz}
Napi::Value MeasureSignalQualityCall(const Napi::CallbackInfo& info) {
  const Napi::Float32Array samples = ToSamples(info[0], "samples");
  const int rate = ToInteger(info[1], "sampleRate");
  const SignalQuality quality =
      MeasureSignalQuality(samples.Data(), samples.ElementLength(), rate, ToSegments(info[2]));
  Napi::Object result = Napi::Object::New(info.Env());
  result["levelDbfs"] = quality.level_dbfs;
  result["snrDb"] = info.Env().Null();
  if (!std::isnan(quality.snr_db)) result["snrDb"] = quality.snr_db;
  result["bandwidthHz"] = quality.bandwidth_hz;
  return result;
}

// Runs on a thread of libuv's pool. The references keep the arrays, whose memory does not move, and `release` keeps
// that of the samples.
class ProsodyWorker : public Napi::AsyncWorker {
 public:
  explicit ProsodyWorker(const Napi::Float32Array& samples)
      : AsyncWorker(samples.Env(), "trackProsody"),
        deferred_(samples.Env()),
        samples_(samples.Data()),
        count_(samples.ElementLength()),
        in_use_(samples.ArrayBuffer()) {
    const Napi::Object track = Napi::Object::New(Env());
    pitch_ = AddTrack(track, "pitchHz");
    level_ = AddTrack(track, "levelDb");
    tilt_ = AddTrack(track, "tiltDb");
    track_ = Napi::Persistent(track);
    input_ = Napi::Persistent(samples.As<Napi::Object>());
  }

  Napi::Promise Promise() const { return deferred_.Promise(); }

 protected:
  void Execute() override {
    thread_local ProsodyTracker tracker;
    tracker.Track(samples_, count_, pitch_, level_, tilt_);
  }
  void OnOK() override { deferred_.Resolve(track_.Value()); }
  void OnError(const Napi::Error& error) override { deferred_.Reject(error.Value()); }

 private:
  float* AddTrack(Napi::Object track, const char* name) const {
    Napi::Float32Array values = Napi::Float32Array::New(Env(), ProsodyTracker::Frames(count_));
    track[name] = values;
    return values.Data();
  }

  Napi::Promise::Deferred deferred_;
  Napi::ObjectReference track_;
  Napi::ObjectReference input_;
  const float* samples_;
  size_t count_;
  BufferInUse in_use_;
  float* pitch_;
  float* level_;
  float* tilt_;
};

// trackProsody(samples, sampleRate) -> promise of {pitchHz, levelDb, tiltDb}, one value per 10 ms
Napi::Value TrackProsodyCall(const Napi::CallbackInfo& info) {
  const Napi::Float32Array samples = ToSamples(info[0], "samples");
  if (ToInteger(info[1], "sampleRate") != kProsodyRate) ThrowBadArgument("16000", "sampleRate", info[1]);
  auto* worker = new ProsodyWorker(samples);  // deletes itself
  const Napi::Promise promise = worker->Promise();
  worker->Queue();
  return promise;
}

}  // namespace

void ExportAnalysisCalls(Napi::Object exports) {
  Export<CreateExtractorCall>("createExtractor", exports);
  Export<ExtractCall>("extract", exports);
  Export<MeasureSignalQualityCall>("measureSignalQuality", exports);
  Export<FilterStreamCall>("filterStream", exports);
  Export<TemporalCentroidCall>("temporalCentroid", exports);
  Export<TrackProsodyCall>("trackProsody", exports);
}

}  // namespace undertone
