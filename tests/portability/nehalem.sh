#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On x86-64 processors without AVX2 the command line runs the kernels of SSE4.1 where they are, else the reference, and
# refuses what is not there.
source "$(dirname "$0")/common.sh" "$@"
[ "$(uname -m)" = x86_64 ] || skip "this machine is no x86-64"
need qemu-x86_64-static cross

# on CPU FAMILY: the model's self test passes on the CPU's best family, and MOTE_ISA=avx2 is refused.
on() {
  mote=(qemu-x86_64-static -cpu "$1" "$build_dir/mote")
  "${mote[@]}" verify "$model" | tee "$work/$1.txt"
  grep -q "self test on $2" "$work/$1.txt" || fail "$1: not on the kernels of $2"
  if MOTE_ISA=avx2 "${mote[@]}" verify "$model" 2>&1; then fail "MOTE_ISA=avx2 was accepted"; fi
  ids=$("${mote[@]}" run "$model" --ids 1,2,3 -n 8 --ignore-stop --threads 1)
  expected=$(MOTE_ISA=$2 "$build_dir/mote" run "$model" --ids 1,2,3 -n 8 --ignore-stop --threads 1)
  [ "$(head -n 1 <<<"$ids")" = "$(head -n 1 <<<"$expected")" ] || fail "$1 generates '$ids' instead of '$expected'"
}

on Conroe ref
on Nehalem sse
