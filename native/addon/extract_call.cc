#include <list>
#include <utility>

#include "args.h"
#include "calls.h"
#include "dsp/features.h"
#include "error.h"
#include "feature_spec_args.h"

namespace undertone {
namespace {

constexpr size_t kCachedExtractors = 8;
// V8 ends the process rather than throw when an array buffer is too large to allocate.
constexpr size_t kMaxValues = size_t{1} << 29;

// The calling thread's extractors, the latest used first: plans are made once per thread and spec.
Extractor& CachedExtractor(const FeatureSpec& spec) {
  thread_local std::list<std::pair<FeatureSpec, Extractor>> cache;
  for (auto entry = cache.begin(); entry != cache.end(); ++entry) {
    if (entry->first != spec) continue;
    cache.splice(cache.begin(), cache, entry);
    return cache.front().second;
  }
  cache.emplace_front(spec, Extractor(spec));
  if (cache.size() > kCachedExtractors) cache.pop_back();
  return cache.front().second;
}

}  // namespace

Napi::Value ExtractCall(const Napi::CallbackInfo& info) {
  Extractor& extractor = CachedExtractor(ToFeatureSpec(info[1]));
  const Napi::Float32Array samples = ToSamples(info[0], "samples");
  const size_t frames = extractor.Frames(samples.ElementLength());
  const size_t bins = extractor.Bins();
  if (frames > kMaxValues / bins) {
    throw Error(ErrorCode::kBadArgument, "Expected at most " + std::to_string(kMaxValues) +
                                             " feature values for `samples`, got " + std::to_string(frames) +
                                             " frames of " + std::to_string(bins));
  }
  Napi::Float32Array data = Napi::Float32Array::New(info.Env(), frames * bins);
  extractor.Extract(samples.Data(), samples.ElementLength(), data.Data());
  Napi::Object result = Napi::Object::New(info.Env());
  result["data"] = data;
  result["frames"] = static_cast<double>(frames);
  result["bins"] = static_cast<double>(bins);
  return result;
}

}  // namespace undertone
