/* Compiles kissfft's real transform and checks the layout of its plan, which fft.cc relies on: the header is followed by
 * the plan of the complex transform, whose vectors must be aligned. */
#include "kiss_fftr.c"

_Static_assert(sizeof(struct kiss_fftr_state) == UNDERTONE_FFT_PLAN_HEADER_BYTES,
               "fft_lanes.h states another size for the header of kissfft's real plan");
_Static_assert(sizeof(struct kiss_fft_state) % sizeof(undertone_lanes) == 0,
               "the vectors behind kissfft's complex plan would not be aligned");
