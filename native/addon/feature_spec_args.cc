#include "feature_spec_args.h"

#include "args.h"

namespace undertone {

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

}  // namespace undertone
