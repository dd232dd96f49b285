#include <list>
#include <utility>

#include "args.h"
#include "calls.h"
#include "dsp/features.h"
#include "error.h"

namespace undertone {
namespace {

constexpr size_t kMaxCachedExtractors = 8;
// V8 aborts the process when it cannot allocate an array buffer.
constexpr size_t kMaxValues = size_t{1} << 29;

// The `features` object of a manifest: all keys are required, others rejected.
FeatureSpec ToFeatureSpec(const Napi::Value& value) {
  OptionsReader reader(value, "spec");
  FeatureSpec spec;
  spec.sample_rate = reader.Integer("sampleRate");
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

// Extractors of the calling thread, most recently used first.
Extractor& CachedExtractor(const FeatureSpec& spec) {
  thread_local std::list<std::pair<FeatureSpec, Extractor>> cache;
  for (auto entry = cache.begin(); entry != cache.end(); ++entry) {
    if (entry->first != spec) continue;
    cache.splice(cache.begin(), cache, entry);
    return cache.front().second;
  }
  cache.emplace_front(spec, Extractor(spec));
  if (cache.size() > kMaxCachedExtractors) cache.pop_back();
  return cache.front().second;
}

}  // namespace

Napi::Value ExtractCall(const Napi::CallbackInfo& info) {
  Extractor& extractor = CachedExtractor(ToFeatureSpec(info[1]));
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

}  // namespace undertone
