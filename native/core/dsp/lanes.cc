#include "dsp/lanes.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <cstdint>
#include <string>

#include "error.h"

namespace undertone {
namespace {

#if defined(__x86_64__)
// __builtin_cpu_supports needs a symbol of libgcc, which other compilers lack. Intel SDM, volume 1, sections 14.3 and 15.2.
int MaxLanes() {
  constexpr uint32_t kFmaAndOsxsave = (1u << 12) | (1u << 27);
  constexpr uint32_t kAvx2 = 1u << 5;
  constexpr uint32_t kAvx512f = 1u << 16;
  constexpr uint32_t kYmmState = 0x06;
  constexpr uint32_t kZmmState = 0xe6;
  uint32_t eax, ebx, ecx, edx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & kFmaAndOsxsave) != kFmaAndOsxsave) return 4;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return 4;
  uint32_t state, unused;
  __asm__("xgetbv" : "=a"(state), "=d"(unused) : "c"(0));
  if ((ebx & kAvx2) == 0 || (state & kYmmState) != kYmmState) return 4;
  return (ebx & kAvx512f) != 0 && (state & kZmmState) == kZmmState ? 16 : 8;
}

// 0 when this processor lacks it.
int WidthOrZero(Lanes lanes) {
  static const int max = MaxLanes();
  switch (lanes) {
    case Lanes::kScalar:
      return 1;
    case Lanes::kFour:
      return 4;
    case Lanes::kEight:
      return max >= 8 ? 8 : 0;
    case Lanes::kSixteen:
      return max >= 16 ? 16 : 0;
    case Lanes::kAuto:
      return max;
  }
  return 0;
}
#elif defined(__aarch64__)
int WidthOrZero(Lanes lanes) {
  if (lanes == Lanes::kScalar) return 1;
  return lanes == Lanes::kFour || lanes == Lanes::kAuto ? 4 : 0;
}
#else
// 0 when this processor lacks it.
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
