#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `mote demo` answers from the model beside it: in the build, and in an installed copy that was moved.
source "$(dirname "$0")/common.sh" "$@"
here=$work/demo
rm -rf "$here"
lights='{"action":"set","device":"lights","room":"kitchen","brightness":30}'
garage='{"action":"none"}'

# answers MOTE: the program answers its own command and another one.
answers() {
  [ "$("$1" demo 2>/dev/null)" = "$lights" ] || fail "$1 demo answers otherwise"
  [ "$("$1" demo "don't open the garage door" 2>/dev/null)" = "$garage" ] || fail "$1 demo: the command is not its words"
}
answers "$build_dir/mote"
cmake --install "$build_dir" --prefix "$here/first" >/dev/null
mv "$here/first" "$here/second"
answers "$here/second/bin/mote"
for file in bash-completion/completions/mote zsh/site-functions/_mote fish/vendor_completions.d/mote.fish man/man1/mote.1; do
  [ -s "$here/second/share/$file" ] || fail "share/$file is not installed"
done
rm "$here/second/share/mote/commands.mote"
if "$here/second/bin/mote" demo 2>"$here/said.txt"; then fail "mote demo answers without its model"; fi
grep -q 'share/mote/commands.mote is not there' "$here/said.txt" || fail "said: $(cat "$here/said.txt")"
