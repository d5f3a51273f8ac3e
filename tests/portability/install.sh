#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An installed copy serves a C99 program, statically, as a shared library and through pkg-config.
source "$(dirname "$0")/common.sh" "$@"
need pkg-config test
consume install "$build_dir"
here=$work/install

"$here/consumer/runner_static" "$model" >"$here/static.txt"
"$here/consumer/runner_shared" "$model" >"$here/shared.txt"
cmp "$here/static.txt" "$here/shared.txt"

export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$here/prefix" -name mote.pc)")
# The flags are words.
cc -std=c99 "$source_dir/tests/portability/consumer/runner.c" $(pkg-config --cflags --libs mote) -o "$here/runner"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir mote) "$here/runner" "$model" >"$here/pkg_config.txt"
cmp "$here/static.txt" "$here/pkg_config.txt"
head -n 2 "$here/static.txt"
