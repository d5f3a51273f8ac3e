#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The library, cross-compiled for RISC-V and for x86 of 32 bits, runs every golden model on its reference kernels.
source "$(dirname "$0")/common.sh" "$@"
[ "$(uname -m)" = x86_64 ] || skip "the compilers are installed on x86-64 alone"

# on PROCESSOR TRIPLE EMULATOR
on() {
  local here=$work/$1
  need "$2-g++" other_cpus
  need "$3" other_cpus
  cmake -S "$source_dir" -B "$here" -G Ninja -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" \
    -DMOTE_UNITY=ON ${CI:+-DMOTE_WERROR=ON} \
    -DCMAKE_TOOLCHAIN_FILE="$source_dir/platforms/cross_linux.cmake" -DCMAKE_SYSTEM_PROCESSOR="$1" \
    -DMOTE_CROSS_TRIPLE="$2" >/dev/null
  cmake --build "$here" --target mote_core mote_platform
  build_runner "$2-gcc" "$here" "$here/runner" -static
  run_goldens "$1" "$3" "$here/runner"
}

convert_goldens
on riscv64 riscv64-linux-gnu qemu-riscv64-static
on i686 i686-linux-gnu qemu-i386-static
