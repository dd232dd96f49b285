#pragma once

// Faults injected into calls of the core, for the calling thread. The linker puts faults.cc between the core
// and the libraries: see --wrap in CMakeLists.txt.

namespace undertone::test {

// Lets the n-th call of av_strdup from here on return null, counting from 1; 0 lets none.
void FailStringCopy(int n);

// Advances all clocks by an hour at the n-th reading from here on, counting from 1; 0 sets them right again.
void AdvanceClocks(int n);

// Whether the clocks have been advanced.
bool ClocksAdvanced();

}  // namespace undertone::test
