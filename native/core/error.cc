#include "error.h"

#include <locale>
#include <sstream>

namespace undertone {

std::string FormatNumber(double value) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << value;
  return text.str();
}

void ThrowOutOfRange(const std::string& expected, const char* name, double got) {
  throw Error(ErrorCode::kBadArgument,
              "Expected " + expected + " for `" + name + "`, got " + FormatNumber(got));
}

void CheckRange(double value, double min, double max, const char* name) {
  if (value >= min && value <= max) return;
  ThrowOutOfRange("a number from " + FormatNumber(min) + " to " + FormatNumber(max), name, value);
}

}  // namespace undertone
