#pragma once

#include <stdexcept>
#include <string>

namespace undertone {

// Whose fault: the first nine are the caller's input or limits, kBadArgument is the calling code, kInternal
// is ours.
enum class ErrorCode {
  kEmpty,
  kMalformed,
  kUnsupported,
  kTooLong,
  kTooManyChannels,
  kSampleRate,
  kChannel,
  kDeadline,
  kCancelled,
  kBadArgument,
  kInternal,
};

struct Error : std::runtime_error {
  Error(ErrorCode error_code, const std::string& reason) : std::runtime_error(reason), code(error_code) {}

  ErrorCode code;
};

// The code's name as JavaScript sees it.
inline const char* CodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kEmpty:
      return "empty";
    case ErrorCode::kMalformed:
      return "malformed";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kTooLong:
      return "too_long";
    case ErrorCode::kTooManyChannels:
      return "too_many_channels";
    case ErrorCode::kSampleRate:
      return "sample_rate";
    case ErrorCode::kChannel:
      return "channel";
    case ErrorCode::kDeadline:
      return "deadline";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kBadArgument:
      return "bad_argument";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

}  // namespace undertone
