#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every source of the core that sees a file's bytes refuses a compiler for a big-endian machine, in a sentence.
source "$(dirname "$0")/common.sh" "$@"
sentence='#error "mote uses weights and tables as they lie in the file, little-endian'
cd "$source_dir"
preprocess() {
  "${CXX:-c++}" -std=c++17 -E -w -I. -Iruntime/include -I"$build_dir/generated" -I"$build_dir/generated/third_party" "$@" \
    2>&1 >/dev/null
}

preprocess runtime/file/model.cpp || fail "model.cpp does not compile here"
sources=0
for source in runtime/*.cpp runtime/*/*.cpp kernels/*.cpp kernels/reference/*.cpp; do
  case $source in runtime/status.cpp | runtime/sound/*.cpp | runtime/exec/beam_rules.cpp) continue ;; esac  # they see none
  if said=$(preprocess -U__BYTE_ORDER__ -D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__ "$source"); then
    fail "$source accepts a big-endian machine"
  fi
  grep -qF "$sentence" <<<"$said" || fail "$source: another error: $said"
  sources=$((sources + 1))
done
[ $sources -gt 0 ] || fail "no sources"
echo "$sources sources refuse a big-endian machine"
