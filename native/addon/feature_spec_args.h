#pragma once

#include <napi.h>

#include "dsp/features.h"

namespace undertone {

// A manifest's `features` object; every key is required and no other is allowed.
FeatureSpec ToFeatureSpec(const Napi::Value& value);

}  // namespace undertone
