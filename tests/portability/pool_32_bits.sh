#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The thread pool where size_t has 32 bits (32-bit Raspberry Pi OS): sizes beyond it are refused, others work.
source "$(dirname "$0")/common.sh" "$@"
[ "$(uname -m)" = x86_64 ] || skip "the compiler for 32 bits is installed on x86-64 alone"
need arm-linux-gnueabihf-g++ cross
need qemu-arm-static cross
out=$work/pool_32_bits
mkdir -p "$out"
cd "$source_dir"
includes=(-I. -Iruntime/include -Iplatforms/posix/include)
options=(-O1 -ffunction-sections -Wall -Wextra -Wconversion -Werror "${includes[@]}")
arm-linux-gnueabihf-gcc -std=gnu99 "${options[@]}" -c tests/portability/pool_sizes.c -o "$out/pool_sizes.o"
for source in platforms/posix/platform.cpp runtime/status.cpp kernels/cpu_features.cpp kernels/families.cpp; do
  arm-linux-gnueabihf-g++ -std=c++17 -fno-exceptions -fno-rtti "${options[@]}" -c "$source" -o "$out/$(basename "$source").o"
done
arm-linux-gnueabihf-gcc -static -Wl,--gc-sections "$out"/*.o -pthread -o "$out/pool_sizes"
qemu-arm-static "$out/pool_sizes"
