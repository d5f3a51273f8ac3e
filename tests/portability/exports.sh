#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libmote.so and libmote.a export the functions that the public headers declare, all named mote_, and nothing else; they
# need the C library alone.
source "$(dirname "$0")/common.sh" "$@"
need nm test
need readelf test
library=$build_dir/libmote.so

declared=$(cat "$source_dir"/runtime/include/mote/*.h "$source_dir"/platforms/posix/include/mote/*.h |
  sed 's|//.*||; s|/\*.*\*/||' | grep -E '^[a-z]' | grep -v '^typedef' | grep -oE '\bmote_[a-z0-9_]+\(' | tr -d '(' | sort -u)
exported=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort -u)
[ -n "$declared" ] || fail "no functions found in the headers"
diff <(echo "$declared") <(echo "$exported") || fail "declared (<) and exported (>) differ"
exported=$(nm --extern-only --defined-only "$build_dir/libmote.a" | awk 'NF == 3 { print $3 }' | sort -u)
diff <(echo "$declared") <(echo "$exported") || fail "declared (<) and exported by libmote.a (>) differ"
# Each library for hosts exports what its header declares and the names of statuses.
for name in host convert; do
  header=$source_dir/host/include/mote/host.h
  [ $name = host ] || header=$source_dir/converter/include/mote/convert.h
  declared=$(sed 's|//.*||; s|/\*.*\*/||' "$header" | grep -E '^[a-z]' | grep -v '^typedef' |
    grep -oE '\bmote_[a-z0-9_]+\(' | tr -d '(' | cat - <(echo mote_status_name) | sort -u)
  diff <(echo "$declared") <(nm -D --defined-only "$build_dir/libmote_$name.so" | awk '{ print $3 }' | sort -u) ||
    fail "libmote_$name.so: declared (<) and exported (>) differ"
done
needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
foreign=$(grep -Ev '^(libc|libm|libpthread|ld-linux.*)\.so' <<<"$needed" || true)
[ -z "$foreign" ] || fail "libmote.so needs" $foreign
echo "$(wc -l <<<"$exported") functions; needs" $needed
