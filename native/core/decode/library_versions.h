#pragma once

#include <string>
#include <utility>
#include <vector>

namespace undertone {

// Names and versions of the loaded libraries that decode: libavformat, libavcodec, libavutil.
std::vector<std::pair<std::string, std::string>> DecoderVersions();

}  // namespace undertone
