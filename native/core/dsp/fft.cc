#include "dsp/fft.h"

#include <cstdlib>

#include "kiss_fftr.h"

namespace undertone {
namespace UNDERTONE_LANES_NAMESPACE {

// Start of the allocation: a gap for alignment, then kissfft's plan.
struct Fft {};

namespace {

constexpr size_t kAlignment = 64;
// The vectors follow the header of kissfft's plan.
constexpr size_t kGap = kAlignment - UNDERTONE_FFT_PLAN_HEADER_BYTES;

kiss_fftr_cfg Plan(Fft* fft) { return reinterpret_cast<kiss_fftr_cfg>(reinterpret_cast<char*>(fft) + kGap); }

}  // namespace

Fft* CreateFft(int n) {
  size_t bytes = 0;
  kiss_fftr_alloc(n, 0, nullptr, &bytes);
  const size_t rounded = (bytes + kGap + kAlignment - 1) / kAlignment * kAlignment;
  Fft* fft = static_cast<Fft*>(std::aligned_alloc(kAlignment, rounded));
  if (fft != nullptr) kiss_fftr_alloc(n, 0, Plan(fft), &bytes);
  return fft;
}

void DestroyFft(Fft* fft) { std::free(fft); }

void RunFft(Fft* fft, const undertone_lanes* frames, undertone_lanes* spectrum) {
  kiss_fftr(Plan(fft), frames, reinterpret_cast<kiss_fft_cpx*>(spectrum));
}

}  // namespace UNDERTONE_LANES_NAMESPACE
}  // namespace undertone
