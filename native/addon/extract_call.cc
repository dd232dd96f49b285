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
  Fields fields(value, "spec");
  FeatureSpec spec;
  spec.sample_rate = fields.Integer("sampleRate");
  spec.win_length = fields.Integer("winLength");
  spec.hop_length = fields.Integer("hopLength");
  spec.padding = fields.Enum<Padding>("padding", {"none", "reflect-center", "snip-edges-false"});
  spec.drop_last = fields.Boolean("dropLast");
  spec.remove_dc = fields.Boolean("removeDc");
  spec.preemphasis = fields.Number("preemphasis");
  spec.window = fields.Enum<Window>("window", {"hann", "hamming", "povey"});
  spec.window_periodic = fields.Boolean("windowPeriodic");
  spec.n_fft = fields.Integer("nFft");
  spec.spectrum = fields.Enum<Spectrum>("spectrum", {"power", "magnitude"});
  spec.n_mels = fields.Integer("nMels");
  spec.low_hz = fields.Number("lowHz");
  spec.high_hz = fields.Number("highHz");
  spec.mel_scale = fields.Enum<MelScale>("melScale", {"htk", "slaney"});
  spec.mel_norm = fields.Enum<MelNorm>("melNorm", {"none", "slaney"});
  spec.mel_triangles = fields.Enum<MelTriangles>("melTriangles", {"hz", "mel"});
  spec.log_base = fields.Enum<LogBase>("logBase", {"e", "10"});
  spec.log_floor = fields.Number("logFloor");
  spec.top_db = fields.NumberOrNull("topDb");
  spec.offset = fields.Number("offset");
  spec.scale = fields.Number("scale");
  spec.n_mfcc = fields.IntegerOrNull("nMfcc");
  spec.lifter = fields.Number("lifter");
  spec.energy = fields.Enum<Energy>("energy", {"none", "log"});
  fields.RejectUnknownKeys();
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
