#pragma once

#include <utility>
#include <vector>

#include "support/mp4_files.h"

namespace undertone::test {

// Small files that libavformat reads slowly, or with much memory, unless they are sanitized, and their names.
std::vector<std::pair<const char*, Bytes>> CraftedFiles();

}  // namespace undertone::test
