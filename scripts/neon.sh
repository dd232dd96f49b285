#!/bin/sh
# Builds the kernels and their tests for arm64 and runs them in an emulator.
# Needs Debian's g++-aarch64-linux-gnu, qemu-user and doctest-dev.
set -eu
cd "$(dirname "$0")/.."
target=aarch64-linux-gnu
for tool in cmake $target-g++ qemu-aarch64; do
  command -v $tool >/dev/null && continue
  echo "Expected $tool on the path, got none: install the Debian packages cmake g++-$target qemu-user doctest-dev" >&2
  exit 1
done
cmake -S . -B build/neon -DUNDERTONE_KERNEL_TESTS=ON -DUNDERTONE_WERROR=ON -DCMAKE_SYSTEM_NAME=Linux \
  -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_C_COMPILER=$target-gcc -DCMAKE_CXX_COMPILER=$target-g++
cmake --build build/neon --parallel 2
qemu-aarch64 -L /usr/$target build/neon/undertone_kernel_tests --no-colors=true "$@"
