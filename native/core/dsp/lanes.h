#pragma once

namespace undertone {

// How many frames are computed side by side. kAuto takes the widest that this processor has.
enum class Lanes { kAuto = 0, kScalar = 1, kFour = 4, kEight = 8, kSixteen = 16 };

bool LanesSupported(Lanes lanes);

// The width that `lanes` means here: 1, 4, 8 or 16. Throws kBadArgument for one that this processor lacks.
int LaneWidth(Lanes lanes);

}  // namespace undertone
