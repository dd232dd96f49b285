#pragma once

#include <cstdio>
#include <vector>

// "name":[value,value...] with so many decimals, a member of an object in JSON.
inline void PrintList(const char* name, const std::vector<double>& values, int decimals) {
  std::printf("\"%s\":[", name);
  for (size_t i = 0; i < values.size(); ++i) std::printf("%s%.*f", i == 0 ? "" : ",", decimals, values[i]);
  std::printf("]");
}
