#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A weight type of supercells is named, or its struct is, in ten sources at most besides its own (its quantizer and the
# kernels' folders), tests, benchmarks and what measures firmware. CONTRIBUTING.md lists them. Types that activations have
# too are left out.
source "$(dirname "$0")/common.sh" "$@"
cd "$source_dir"

types=0
while read -r name cell; do
  ! grep -q "^WEIGHT_TYPE(.*, $name)$" schema/weight_types.inc || continue
  types=$((types + 1))
  named=$(grep -rlwE "$name|$cell" schema kernels runtime converter host tools scripts platforms cmake examples \
    CMakeLists.txt | grep -vE "^kernels/.*/|/$name[.]cpp$|^scripts/(test-firmware|firmware_page)$" | sort)
  count=$(wc -l <<<"$named")
  echo "$name: $count"
  if [ "$count" -gt 10 ]; then
    echo "$named"
    exit 1
  fi
  for file in $named; do
    grep -qF "$(basename "$file")" CONTRIBUTING.md || { echo "$name: CONTRIBUTING.md does not list $file"; exit 1; }
  done
done < <(sed -nE 's/^WEIGHT_TYPE\((.*), (Cell|Wide)Layout<(.*)>, .*/\1 \3/p' schema/weight_types.inc)
[ "$types" -ge 5 ] || { echo "only $types types were found"; exit 1; }
