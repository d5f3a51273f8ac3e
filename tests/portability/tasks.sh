#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# host/tasks compiles without exceptions and RTTI, for machines of 32 bits and for WebAssembly, and uses nothing that these
# have not: no file, thread, signal or stream.
source "$(dirname "$0")/common.sh" "$@"
[ "$(uname -m)" = x86_64 ] || skip "the compilers are installed on x86-64 alone"
need arm-linux-gnueabihf-g++ cross
need clang++ wasm
headers=$(find /usr/lib/llvm-*/include/wasm32-wasi/c++ -maxdepth 1 -name v1 2>/dev/null | tail -n 1 || true)
if [ -z "$headers" ]; then
  [ -z "${CI:-}" ] || fail "the C++ library for WebAssembly is missing"
  skip "the C++ library for WebAssembly is missing; scripts/install_packages wasm installs it"
fi
cd "$source_dir"
options=(-std=c++20 -O1 -fno-exceptions -fno-rtti -Wall -Wextra -Werror -I. -Iruntime/include)

banned='fstream|iostream|sstream|thread|mutex|filesystem|csignal|signal.h|unistd.h|sys/.*|fmt/.*|nlohmann/.*'
used=$(grep -rnE "#include <($banned)>" host/tasks || true)
[ -z "$used" ] || fail "host/tasks includes what it may not:
$used"

# compile NAME COMPILER...: each source, by the compiler.
compile() {
  local name=$1
  shift
  find host/tasks -name '*.cpp' | xargs -P "$(nproc)" -I{} "$@" "${options[@]}" -c {} -o /dev/null ||
    fail "host/tasks does not compile for $name"
}
compile 32_bits arm-linux-gnueabihf-g++ -Wno-psabi
compile wasm32 clang++ --target=wasm32-wasi -isystem "$headers" -D_LIBCPP_HAS_NO_THREADS
echo "$(find host/tasks -name '*.cpp' | wc -l) sources, for 32 bits and for WebAssembly"
