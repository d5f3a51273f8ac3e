#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is built with MOTE_HARDEN has what it says: addresses that are not known beforehand, tables that are read-only from
# the start on, a stack that is not executed, canaries, checked copies and marked targets of jumps.
source "$(dirname "$0")/common.sh" "$@"
need readelf test
grep -q '^MOTE_HARDEN:BOOL=ON' "$build_dir/CMakeCache.txt" || skip "the build has MOTE_HARDEN off"
grep -q '^MOTE_SANITIZE:STRING=OFF' "$build_dir/CMakeCache.txt" || skip "sanitized builds are not hardened"
grep -q '^CMAKE_BUILD_TYPE:STRING=Release' "$build_dir/CMakeCache.txt" || skip "copies are checked in release builds"

count=0
for file in mote libmote.so libmote_host.so libmote_convert.so; do
  [ -f "$build_dir/$file" ] || continue
  count=$((count + 1))
  readelf -hlW "$build_dir/$file" >"$work/headers"
  readelf -dW "$build_dir/$file" >"$work/dynamic"
  grep -q 'Type: *DYN' "$work/headers" || fail "$file is not position-independent"
  grep -q 'GNU_RELRO' "$work/headers" || fail "$file has no RELRO"
  grep -qE 'BIND_NOW|FLAGS_1.* NOW' "$work/dynamic" || fail "$file binds its functions lazily: RELRO is partial"
  grep -qE 'GNU_STACK .* RW ' "$work/headers" || fail "the stack of $file is executable"
  if grep -qE 'LOAD .* RWE ' "$work/headers"; then fail "$file has a segment that is written and executed"; fi
done
[ "$count" -gt 0 ] || fail "nothing is built"

# Functions that are taken from outside; the static command has them inside.
for file in mote libmote.so libmote_host.so libmote_convert.so; do
  if [ ! -f "$build_dir/$file" ] || grep -q '^MOTE_STATIC:BOOL=ON' "$build_dir/CMakeCache.txt"; then continue; fi
  readelf -sW "$build_dir/$file" | awk '$7 == "UND" { sub(/@.*/, "", $8); print $8 }' >"$work/undefined"
  grep -qx '__stack_chk_fail' "$work/undefined" || fail "$file has no stack protector"
  [ "$file" = libmote.so ] || grep -qE '^__(mem|str|v?s?n?printf).*_chk$' "$work/undefined" || fail "$file checks no copies"
done

# The first instruction of a function that others call.
case $(uname -m) in
  x86_64) target='f30f1efa' ;;
  aarch64) target='5f2403d5|3f2303d5' ;;
  *) exit 0 ;;
esac
for function in mote_version mote_session_init; do
  place=$(readelf -sW "$build_dir/libmote.so" | awk -v name=$function '!place && $8 ~ "^" name "(@|$)" { place = $2 } END { print place }')
  [ -n "$place" ] || fail "libmote.so has no $function"
  dump=$(od -An -tx1 -j "$((16#$place))" -N 4 "$build_dir/libmote.so" | tr -d ' ')
  grep -qE "$target" <<<"$dump" || fail "$function does not begin with a target of jumps: $dump"
done
echo "$count files are hardened"
