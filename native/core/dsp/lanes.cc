#include "dsp/lanes.h"

#include <string>

#include "error.h"

namespace undertone {
namespace {

// 0 when this processor lacks it.
#if defined(__x86_64__)
int WidthOrZero(Lanes lanes) {
  const bool eight = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool sixteen = eight && __builtin_cpu_supports("avx512f");
  switch (lanes) {
    case Lanes::kScalar:
      return 1;
    case Lanes::kFour:
      return 4;
    case Lanes::kEight:
      return eight ? 8 : 0;
    case Lanes::kSixteen:
      return sixteen ? 16 : 0;
    case Lanes::kAuto:
      return sixteen ? 16 : eight ? 8 : 4;
  }
  return 0;
}
#elif defined(__aarch64__)
int WidthOrZero(Lanes lanes) {
  if (lanes == Lanes::kScalar) return 1;
  return lanes == Lanes::kFour || lanes == Lanes::kAuto ? 4 : 0;
}
#else
int WidthOrZero(Lanes lanes) { return lanes == Lanes::kScalar || lanes == Lanes::kAuto ? 1 : 0; }
#endif

}  // namespace

bool LanesSupported(Lanes lanes) { return WidthOrZero(lanes) != 0; }

int LaneWidth(Lanes lanes) {
  const int width = WidthOrZero(lanes);
  if (width != 0) return width;
  throw Error(ErrorCode::kBadArgument, "Expected a width this processor has for `lanes`, got " +
                                           std::to_string(static_cast<int>(lanes)));
}

}  // namespace undertone
