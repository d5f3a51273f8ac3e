#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The binary interface of 64-bit machines is what abi.txt says: functions with their types, sizes of structs, places of
# members, values of enumerators. With --update behind the two folders it is written down anew.
source "$(dirname "$0")/common.sh" "$@"
need gcc build
need readelf test
[ "$(getconf LONG_BIT)" = 64 ] || skip "this machine is not a 64-bit one"
recorded=$source_dir/tests/portability/abi.txt
here=$work/abi
mkdir -p "$here"

{
  cd "$source_dir"
  find runtime/include platforms/posix/include host/include converter/include -name '*.h' -printf '#include <%P>\n' | sort
} >"$here/abi.c"
includes=(-I "$source_dir/runtime/include" -I "$source_dir/platforms/posix/include" -I "$source_dir/host/include"
  -I "$source_dir/converter/include")
gcc -std=c99 -g -gdwarf-5 -fno-eliminate-unused-debug-types "${includes[@]}" -aux-info "$here/functions" -c "$here/abi.c" -o "$here/abi.o"
{
  sed -nE 's|^/\* .* \*/ extern (.*[ *]mote_.*);|function \1|p' "$here/functions"
  gcc "${includes[@]}" -dM -E "$here/abi.c" |
    sed -nE '/_VERSION|_H_/d; s/^#define (MOTE_.*)/macro \1/p'
  readelf --debug-dump=info "$here/abi.o" | awk -f "$source_dir/tests/portability/abi.awk"
} | LC_ALL=C sort -u >"$here/abi.txt"
for kind in function macro enumerator callback struct member; do
  grep -q "^$kind " "$here/abi.txt" || fail "found no $kind in the headers"
done

if [ "${3:-}" = --update ]; then
  cp "$here/abi.txt" "$recorded"
  exit
fi
# Members named reserved are there to be used up, the struct's size stays.
lost=$(LC_ALL=C comm -23 "$recorded" "$here/abi.txt" | grep -Ev '^member [a-z_]+\.(reserved|unused):' || true)
new=$(LC_ALL=C comm -13 "$recorded" "$here/abi.txt")
[ -z "$lost" ] || fail "gone or changed: programs built with an earlier mote.h would break. Put it back and append
instead (docs/embedding.md); only a new major version may drop it, by tests/portability/abi.sh . build --update
$lost"
[ -z "$new" ] || fail "new, and from now on for good: record it by tests/portability/abi.sh . build --update
$new"
echo "$(wc -l <"$recorded") lines as recorded"
