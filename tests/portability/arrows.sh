#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Includes point down only: each folder of the left column includes headers of the folders behind it and of no others.
source "$(dirname "$0")/common.sh" "$@"
cd "$source_dir"

# Headers of mote/ are public; host and tools may take any, mote/posix.h too.
arrows="
schema          schema
kernels         kernels schema mote
kernels/xnnpack kernels schema mote runtime
runtime         runtime kernels schema mote
host/base       host/base mote
host/media      host/media host/base mote
host/grammar    host/grammar host/base runtime/file schema mote
host/chat       host/chat host/tasks host/media host/base mote
host/tasks      host/tasks host/media host/base mote
host/inputs     host/inputs host/tasks host/media host/base mote
host/api        host/api host/grammar host/inputs host/tasks host/chat host/media host/base mote
converter       converter host/base host/grammar host/chat runtime kernels schema mote
tools           tools converter host runtime kernels schema mote
"

# folder_of FILE: the folder of the left column that the file is in, the longest.
wrong=$(
  while read -r folder allowed; do
    [ -n "$folder" ] || continue
    grep -rEo '^#include "[^"]+"' --include='*.h' --include='*.cpp' --include='*.inc' "$folder" |
      awk -F'[:"]' -v folder="$folder" -v allowed="$allowed" -v all="$arrows" '
        BEGIN {
          n = split(allowed, to, " ")
          m = split(all, lines, "\n")
        }
        {
          for (i = 1; i <= m; ++i) {  # the file is of a folder with a line of its own
            split(lines[i], words, " ")
            if (length(words[1]) > length(folder) && index($1, words[1] "/") == 1) next
          }
          for (i = 1; i <= n; ++i) if (index($3, to[i] "/") == 1) next
          if ($3 !~ /\//) next  # beside the file
          print $1 " includes " $3
        }'
  done <<<"$arrows"
)
[ -z "$wrong" ] || fail "arrows that point up:
$wrong"
