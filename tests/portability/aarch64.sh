#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The library, cross-compiled for aarch64 with its reference kernels, gives this machine's reference logits.
source "$(dirname "$0")/common.sh" "$@"
[ "$(uname -m)" != aarch64 ] || skip "this machine is aarch64: all other tests show it"
need aarch64-linux-gnu-g++ cross
need qemu-aarch64-static cross
here=$work/aarch64
mkdir -p "$here"

cmake -S "$source_dir" --preset aarch64 -B "$here/build" ${CI:+-DMOTE_WERROR=ON} >/dev/null
cmake --build "$here/build"
consume aarch64 "$here/build" tests/portability/consumer \
  -DCMAKE_TOOLCHAIN_FILE="$source_dir/platforms/raspberry_pi/toolchain_aarch64.cmake"
consume host "$build_dir" tests/portability/consumer

MOTE_ISA=ref qemu-aarch64-static -L /usr/aarch64-linux-gnu "$here/consumer/runner_static" "$model" >"$here/logits.txt"
MOTE_ISA=ref "$work/host/consumer/runner_static" "$model" >"$work/host/logits.txt"
head -n 2 "$here/logits.txt"
same_logits "$work/host/logits.txt" "$here/logits.txt"
