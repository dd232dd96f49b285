#pragma once

#include <iterator>
#include <stdexcept>
#include <string>

namespace undertone {

// Codes up to kCancelled describe the input, an exceeded limit or a cancellation. kBadArgument is an error of
// the caller, kInternal a bug or a lack of memory in this process.
enum class ErrorCode {
  kEmpty,
  kMalformed,
  kUnsupported,
  kUnknown,  // bytes of no known format
  kTooLong,
  kTooComplex,  // decoding exceeds the CPU budget
  kTooManyChannels,
  kSampleRate,
  kChannel,
  kTrack,
  kDeadline,
  kCancelled,
  kBadArgument,
  kInternal,
};

struct Error : std::runtime_error {
  Error(ErrorCode error_code, const std::string& reason) : std::runtime_error(reason), code(error_code) {}

  ErrorCode code;
};

// Up to 6 significant digits, in the C locale.
std::string FormatNumber(double value);

// Throws kBadArgument: Expected X for `name`, got Y.
[[noreturn]] void ThrowOutOfRange(const std::string& expected, const char* name, double got);

// Throws kBadArgument unless min <= value <= max.
void CheckRange(double value, double min, double max, const char* name);

// The name of a code in JavaScript.
inline const char* CodeName(ErrorCode code) {
  static constexpr const char* kNames[] = {
      "empty",   "malformed", "unsupported", "unknown",  "too_long",  "too_complex",  "too_many_channels",
      "sample_rate", "channel", "track",     "deadline", "cancelled", "bad_argument", "internal"};
  static_assert(std::size(kNames) == static_cast<size_t>(ErrorCode::kInternal) + 1);
  return kNames[static_cast<size_t>(code)];
}

}  // namespace undertone
