#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On an x86-64 processor without AVX2 the command line runs the reference kernels, and refuses avx2 when told to use it.
source "$(dirname "$0")/common.sh" "$@"
[ "$(uname -m)" = x86_64 ] || skip "this machine is no x86-64"
need qemu-x86_64-static cross
mote=(qemu-x86_64-static -cpu Nehalem "$build_dir/mote")

"${mote[@]}" verify "$model" | tee "$work/nehalem.txt"
grep -q 'self test on ref' "$work/nehalem.txt" || fail "not on the reference kernels"
if MOTE_ISA=avx2 "${mote[@]}" verify "$model" 2>&1; then fail "MOTE_ISA=avx2 was accepted"; fi

ids=$("${mote[@]}" run "$model" --ids 1,2,3 -n 8 --ignore-stop --threads 1)
expected=$(MOTE_ISA=ref "$build_dir/mote" run "$model" --ids 1,2,3 -n 8 --ignore-stop --threads 1)
[ "$(head -n 1 <<<"$ids")" = "$(head -n 1 <<<"$expected")" ] || fail "generates '$ids' instead of '$expected'"
