#include "analysis/pitch.h"
#include "analysis/prosody.h"
#include "args.h"
#include "calls.h"

namespace undertone {
namespace {

// Runs on a thread of libuv's pool. The references keep the arrays, whose memory does not move.
class ProsodyWorker : public Napi::AsyncWorker {
 public:
  explicit ProsodyWorker(const Napi::Float32Array& samples)
      : AsyncWorker(samples.Env(), "trackProsody"),
        deferred_(samples.Env()),
        samples_(samples.Data()),
        count_(samples.ElementLength()) {
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
  float* pitch_;
  float* level_;
  float* tilt_;
};

}  // namespace

Napi::Value TrackProsodyCall(const Napi::CallbackInfo& info) {
  const Napi::Float32Array samples = ToSamples(info[0], "samples");
  if (ToInteger(info[1], "sampleRate") != kPitchRate) ThrowBadArgument("16000", "sampleRate", info[1]);
  auto* worker = new ProsodyWorker(samples);  // deletes itself
  const Napi::Promise promise = worker->Promise();
  worker->Queue();
  return promise;
}

}  // namespace undertone
