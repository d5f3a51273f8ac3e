#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An installed copy serves a C99 program, statically, as a shared library and through pkg-config, and a C++ program.
source "$(dirname "$0")/common.sh" "$@"
need pkg-config test
need readelf test
consume install "$build_dir" tests/portability/consumer "-DMOTE_EVERY_CALL=$source_dir/tests/host/every_call.c"
here=$work/install

"$here/consumer/runner_static" "$model" >"$here/static.txt"
"$here/consumer/runner_shared" "$model" >"$here/shared.txt"
cmp "$here/static.txt" "$here/shared.txt"

models=()
for source in tests/golden/models/vit_classifier tests/golden/models/vits models/keywords; do
  models+=("$here/$(basename "$source").mote")
  "$build_dir/mote" convert "$source_dir/$source" -o "${models[-1]}" --type f32 >/dev/null
done
"$here/consumer/cpp_calls" "$text_model" "$work/embed.mote" "$work/classify.mote" "${models[@]}"

export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$here/prefix" -name mote.pc)")
library=$(pkg-config --variable=libdir mote)
# The flags are words.
cc -std=c99 "$source_dir/tests/portability/consumer/runner.c" $(pkg-config --cflags --libs mote) -o "$here/runner"
LD_LIBRARY_PATH=$library "$here/runner" "$model" >"$here/pkg_config.txt"
cmp "$here/static.txt" "$here/pkg_config.txt"
cc -std=c99 "$source_dir/tests/portability/consumer/runner.c" -static $(pkg-config --cflags --static --libs mote) \
  -o "$here/runner"
"$here/runner" "$model" >"$here/pkg_config.txt"
cmp "$here/static.txt" "$here/pkg_config.txt"
head -n 2 "$here/static.txt"

"$here/consumer/every_call" "$build_dir/tests/every_call"
cc -std=c99 "$source_dir/tests/host/every_call.c" $(pkg-config --cflags --libs mote-host mote-convert) -o "$here/every_call"
LD_LIBRARY_PATH=$library "$here/every_call" "$build_dir/tests/every_call"

# One version, everywhere.
version=$(sed -n 's/#define MOTE_VERSION "\(.*\)"/\1/p' "$source_dir/runtime/include/mote/mote.h")
[ "$(pkg-config --modversion mote)" = "$version" ] || fail "mote.pc is not of version $version"
[ -f "$library/libmote.so.$version" ] || fail "there is no libmote.so.$version"
soname=$(readelf -d "$library/libmote.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[ "$soname" = "libmote.so.${version%%.*}" ] || fail "the shared library's name is $soname"
