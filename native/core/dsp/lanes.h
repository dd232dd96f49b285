#pragma once

namespace undertone {

// Number of frames computed side by side. kAuto: the widest of this processor.
enum class Lanes { kAuto = 0, kScalar = 1, kFour = 4, kEight = 8, kSixteen = 16 };

bool LanesSupported(Lanes lanes);

// 1, 4, 8 or 16. Throws kBadArgument for a width that this processor lacks.
int LaneWidth(Lanes lanes);

}  // namespace undertone
