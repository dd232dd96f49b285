#include "feature_spec_args.h"

#include "args.h"

namespace undertone {

FeatureSpec ToFeatureSpec(const Napi::Value& value) {
  Fields fields(value, "spec");
  FeatureSpec spec;
  spec.sample_rate = fields.Integer("sampleRate");
  spec.frame_length = fields.Integer("frameLength");
  spec.hop = fields.Integer("hop");
  spec.padding = fields.Word<Padding>("padding", {"none", "reflect-center", "reflect-kaldi"});
  spec.drop_last = fields.Boolean("dropLast");
  spec.remove_dc = fields.Boolean("removeDc");
  spec.preemphasis = fields.Number("preemphasis");
  spec.window = fields.Word<Window>("window", {"hann", "hamming", "povey"});
  spec.window_periodic = fields.Boolean("windowPeriodic");
  spec.fft_length = fields.Integer("fftLength");
  spec.spectrum = fields.Word<Spectrum>("spectrum", {"power", "magnitude"});
  spec.bins = fields.Integer("bins");
  spec.low_hz = fields.Number("lowHz");
  spec.high_hz = fields.Number("highHz");
  spec.mel_scale = fields.Word<MelScale>("melScale", {"htk", "slaney"});
  spec.mel_norm = fields.Word<MelNorm>("melNorm", {"none", "slaney"});
  spec.mel_triangles = fields.Word<MelTriangles>("melTriangles", {"hz", "mel"});
  spec.log_base = fields.Word<LogBase>("logBase", {"e", "10"});
  spec.log_floor = fields.Number("logFloor");
  spec.dynamic_range = fields.NumberOrNull("dynamicRange");
  spec.offset = fields.Number("offset");
  spec.scale = fields.Number("scale");
  spec.coefficients = fields.IntegerOrNull("coefficients");
  spec.lifter = fields.Number("lifter");
  spec.energy = fields.Word<Energy>("energy", {"none", "log"});
  fields.Close();
  return spec;
}

}  // namespace undertone
