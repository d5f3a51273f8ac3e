#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Commands ask mote/host.h and mote/convert.h. They and the parts of tools/mote that they include take public headers, each
# other, files and JSON of host/base, and sentences; no task, no part of the converter or of the core.
source "$(dirname "$0")/common.sh" "$@"
cd "$source_dir"

# Commands over the core itself: they measure it, show it or write it out.
over_the_core="bench export_c forward inspect textbook"
# Sources behind headers that commands include: what they take of the core is names of kernels, the number of tensors and sizes in firmware.
apart="tools/mote/arguments.cpp tools/mote/firmware_report.cpp tools/mote/model_bytes.cpp tools/mote/thread_choice.cpp"

has() { [[ " $1 " == *" $2 "* ]]; }

for name in $over_the_core; do
  [ -f "tools/mote/commands/$name.cpp" ] || fail "tools/mote/commands/$name.cpp is listed and not there"
done

wrong= commands=0
for command in tools/mote/commands/*.cpp; do
  name=$(basename "$command" .cpp)
  has "$over_the_core" "$name" && continue
  commands=$((commands + 1))
  queue=("$command") seen=" $command "
  while [ ${#queue[@]} -gt 0 ]; do
    file=${queue[0]} queue=("${queue[@]:1}")
    while read -r header; do
      case $header in
        mote/* | host/base/* | host/tasks/sentence.h) continue ;;
        tools/mote/*) ;;
        *)
          wrong+="$name: $file includes $header"$'\n'
          continue
          ;;
      esac
      for next in "$header" "${header%.h}.cpp"; do
        [ -f "$next" ] && [[ $seen != *" $next "* ]] || continue
        has "$apart" "$next" && continue
        seen+="$next "
        queue+=("$next")
      done
    done < <(sed -nE 's/^#include "([^"]+)".*/\1/p' "$file")
  done
done
[ -z "$wrong" ] || fail "commands that reach below mote/host.h and mote/convert.h:
$wrong"
[ "$commands" -gt 0 ] || fail "found no command"
echo "$commands commands over mote/host.h and mote/convert.h"
