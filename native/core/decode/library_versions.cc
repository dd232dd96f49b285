#include "decode/library_versions.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
}

namespace undertone {
namespace {

std::string Format(unsigned version) {
  return std::to_string(AV_VERSION_MAJOR(version)) + "." + std::to_string(AV_VERSION_MINOR(version)) + "." +
         std::to_string(AV_VERSION_MICRO(version));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> DecoderVersions() {
  return {
      {"libavformat", Format(avformat_version())},
      {"libavcodec", Format(avcodec_version())},
      {"libavutil", Format(avutil_version())},
  };
}

}  // namespace undertone
