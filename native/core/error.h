#pragma once

#include <stdexcept>
#include <string>

namespace undertone {

// By fault: the codes up to kCancelled are about the input or the caller's limits, kBadArgument is a mistake
// in the calling code, kInternal is a defect here.
enum class ErrorCode {
  kEmpty,
  kMalformed,
  kUnsupported,
  kTooLong,
  kTooComplex,  // decoding exceeds the CPU budget
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
    case ErrorCode::kTooComplex:
      return "too_complex";
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
