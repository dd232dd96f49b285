#pragma once

namespace undertone {

// Number of frames computed side by side. kAuto: the widest of this processor.
enum class Lanes { kAuto = 0, kScalar = 1, kFour = 4, kEight = 8, kSixteen = 16 };

bool LanesSupported(Lanes lanes);

// 1, 4, 8 or 16. Throws kBadArgument for a width that this processor lacks.
int LaneWidth(Lanes lanes);

// A constant with one definition per vector width, in namespaces lanes1 to lanes16.
#define UNDERTONE_DECLARE_PER_WIDTH(Type, name) \
  namespace lanes1 {                            \
  extern const Type name;                       \
  }                                             \
  namespace lanes4 {                            \
  extern const Type name;                       \
  }                                             \
  namespace lanes8 {                            \
  extern const Type name;                       \
  }                                             \
  namespace lanes16 {                           \
  extern const Type name;                       \
  }

// The definition for the width of `lanes`.
#if defined(__x86_64__)
#define UNDERTONE_SELECT_WIDTH(lanes, name) \
  (LaneWidth(lanes) == 16  ? lanes16::name  \
   : LaneWidth(lanes) == 8 ? lanes8::name   \
   : LaneWidth(lanes) == 4 ? lanes4::name   \
                           : lanes1::name)
#elif defined(__aarch64__)
#define UNDERTONE_SELECT_WIDTH(lanes, name) (LaneWidth(lanes) == 4 ? lanes4::name : lanes1::name)
#else
#define UNDERTONE_SELECT_WIDTH(lanes, name) (static_cast<void>(LaneWidth(lanes)), lanes1::name)
#endif

}  // namespace undertone
