#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Completions of bash, zsh and fish and the manual page have the commands and options of --help, and no others; shells
# parse them and mandoc finds nothing wrong.
source "$(dirname "$0")/common.sh" "$@"
need zsh test
need fish test
need mandoc test
mote=$build_dir/mote
here=$work/help_files
mkdir -p "$here"
for shell in bash zsh fish; do "$mote" completions $shell >"$here/$shell"; done
"$mote" manual >"$here/mote.1"

bash -n "$here/bash"
zsh -n "$here/zsh"
fish --no-execute "$here/fish"
mandoc -T lint -W warning "$here/mote.1" >"$here/lint.txt" || true
# The page has no date of its own: two builds are to give the same bytes.
wrong=$(grep -v 'missing date' "$here/lint.txt" || true)
[ -z "$wrong" ] || fail "mandoc: $wrong"

# options_of_help COMMAND: "-p" and "--prompt" of the lines that begin with them.
options_of_help() { "$mote" "$1" --help | sed -nE 's/^ +(-[^ ]*).*/\1/p' | tr , '\n' | sort -u; }

# completed WORD...: what bash would offer behind the words, the last of which may be begun.
completed() {
  bash -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mote; printf "%s\n" "${COMPREPLY[@]}"' "$here/bash" "$@" | sort -u
}
options_of_bash() { completed mote "$1" -; }
options_of_zsh() {
  awk -v begin="      $1)" '$0 == begin { on = 1; next } on && /^ *;;$/ { exit } on' "$here/zsh" |
    sed -nE "s/^ *'(\*|\([^)]*\))(-[a-z-]+)[=+]?\[.*/\2/p" | sort -u
}
options_of_fish() {
  grep -F -- "-n '__fish_seen_subcommand_from $1' " "$here/fish" | sed -E "s/ -d '.*//" |
    grep -oE -- ' -s [a-zA-Z]| -l [a-z-]+' | sed -E 's/^ -s /-/; s/^ -l /--/' | sort -u
}
options_of_manual() {
  awk -v begin=".SS mote ${1//-/\\\\-}" '$0 == begin { on = 1; next } on && /^\.S[SH]/ { exit } on && last == ".TP"; { last = $0 }' \
    "$here/mote.1" | grep -oE -- '\\fB[^\\]*(\\-[^\\]*)*\\fR' | sed -E 's/\\f[BR]//g; s/\\-/-/g' | sort -u
}

# same NAME WANTED GOT: both have words, and the same ones.
same() {
  [ -n "$2" ] || fail "$1: nothing to compare with"
  [ "$2" = "$3" ] || fail "$1 differs from --help: $(diff <(echo "$2") <(echo "$3") || true)"
}

commands=$("$mote" --help | sed -nE '/^Subcommands:/,$ s/^  ([a-z][a-z0-9-]*) .*/\1/p' | sort -u)
same "bash, commands" "$commands" "$(completed mote '')"
same "zsh, commands" "$commands" "$(sed -n '/commands=(/,/^  )/p' "$here/zsh" | sed -nE "s/^    '([^:]*):.*/\1/p" | sort -u)"
same "fish, commands" "$commands" "$(sed -nE 's/.*__fish_use_subcommand -a ([a-z-]+) .*/\1/p' "$here/fish" | sort -u)"
same "manual, commands" "$commands" "$(sed -nE 's/^\.SS mote (.*)/\1/p' "$here/mote.1" | sed 's/\\-/-/g' | sort -u)"
for command in $commands; do
  for file in bash zsh fish manual; do
    same "$file, mote $command" "$(options_of_help "$command")" "$(options_of_$file "$command")"
  done
done
same "bash, values" "$(printf 'slide\nstop')" "$(completed mote run m.mote --context-full s)"
same "bash, first argument" "$(printf 'bash\nfish\nzsh')" "$(completed mote completions '')"
echo "$(wc -w <<<"$commands") commands in four files"
