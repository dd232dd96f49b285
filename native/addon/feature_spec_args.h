#pragma once

#include <napi.h>

#include "dsp/features.h"

namespace undertone {

// The `features` object of a manifest: all keys are required, others rejected.
FeatureSpec ToFeatureSpec(const Napi::Value& value);

}  // namespace undertone
