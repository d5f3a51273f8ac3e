#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The examples build against an installed copy, and do what they say.
source "$(dirname "$0")/common.sh" "$@"
consume examples "$build_dir" examples ${CI:+-DCMAKE_COMPILE_WARNING_AS_ERROR=ON}
here=$work/examples
example=$here/consumer
mote() { "$build_dir/mote" "$@" 2>/dev/null; }

# expect WHAT GIVEN EXPECTED, but for spaces at the ends of lines
expect() {
  diff <(sed 's/ *$//' <<<"$2") <(sed 's/ *$//' <<<"$3") || fail "$1 (<) is not what it should be (>)"
}

ids() { mote run "$model" --ids "$1" -n "$2" | tr ',' ' '; }
expect generate "$("$example/generate" "$model" --ids 1 5 7)" "$(ids 1,5,7 32)"
expect "generate with a text" "$("$example/generate" "$text_model" "hello the end")" \
  "$(mote run "$text_model" -p "hello the end" -n 32)"
expect bounded_step "$("$example/bounded_step" "$model" | head -n 1)" "$(ids 1,5,7 16)"
[ "$("$example/bounded_step" "$model" | sed -n 's/ turns of the loop//p')" -gt 64 ] || fail "bounded_step: few steps"
expect two_sessions "$("$example/two_sessions" "$model")" "$(ids 1,5,7 16; ids 9,3 16)"

if [ -f "$build_dir/libmote_xnnpack.a" ]; then
  expect xnnpack "$("$example/xnnpack" "$model" 1 5 7)" "$(ids 1,5,7 32)"
fi

# Three runs of 8 tokens are one of 24; a state that is damaged is refused.
rm -f "$here/state"
expect save_restore "$({
  "$example/save_restore" "$model" "$here/state" 1 5 7
  "$example/save_restore" "$model" "$here/state"
  "$example/save_restore" "$model" "$here/state"
} | tr -d '\n')" "$(ids 1,5,7 24)"
printf 'x' | dd of="$here/state" bs=1 seek=200 conv=notrunc status=none
if "$example/save_restore" "$model" "$here/state" 2>"$here/refused"; then fail "a damaged state was restored"; fi
grep -q damaged "$here/refused"

expect tokenize "$("$example/tokenize" "$text_model" "hello the  end" | tail -n 1)" "hello the  end"
expect chat "$(printf 'hello\nthe end\n' | "$example/chat" "$text_model")" \
  "$(printf 'hello\nthe end\n' | mote chat "$text_model" -n 256 --repeat-penalty 1)"
printf 'stop 123\nhello there\n\nthe tokenizer\n' >"$here/lines.txt"
expect embed "$("$example/embed" "$work/embed.mote" "hello there" <"$here/lines.txt")" \
  "$(mote embed "$work/embed.mote" --empty skip --rank "hello there" --file "$here/lines.txt" | sed 's/  */ /g; s/^ //')"
expect classify "$("$example/classify" "$work/classify.mote" "hello there" | sort -r |
  awk '{ printf "%s%s %s", comma, $2, $1; comma = ", " }'): hello there" \
  "$(mote classify "$work/classify.mote" --text "hello there")"

if [ -e "$example/host_chat" ]; then
  expect host_chat "$(printf 'hello\nthe end\n' | "$example/host_chat" "$text_model")" \
    "$(printf 'hello\nthe end\n' | mote chat "$text_model" -n 1024)"
  if "$example/host_transcribe" "$text_model" /no/such/sound 2>"$here/refused"; then fail "a text model heard"; fi
  grep -q "does not take sound" "$here/refused"
  expect host_search "$("$example/host_search" "$work/embed.mote" "hello there" <"$here/lines.txt")" \
    "$(mote embed "$work/embed.mote" --empty skip --rank "hello there" --file "$here/lines.txt" | sed 's/^ *//')"
fi

# In C++: a search, a chat and a sound's labels in under 80 lines together.
cat "$source_dir"/examples/{search,talk,hear}.cpp >"$here/together"
[ "$(wc -l <"$here/together")" -lt 80 ] || fail "search.cpp, talk.cpp and hear.cpp have $(wc -l <"$here/together") lines together"
expect search "$("$example/search" "$work/embed.mote" "hello there" < <(grep . "$here/lines.txt"))" \
  "$(mote embed "$work/embed.mote" --empty skip --rank "hello there" --file "$here/lines.txt" | sed 's/^ *//')"
talked=$(printf 'hello\nthe end\n' | "$example/talk" "$text_model")
expect talk "$talked" "$(printf 'hello\nthe end\n' | mote chat "$text_model" -n 256)"
stop=${talked:3:4}
expect "talk up to a text" "$(printf 'hello\n' | "$example/talk" "$text_model" "$stop")" "${talked%%"$stop"*}"
"$build_dir/mote" convert "$source_dir/models/keywords" -o "$here/keywords.mote" --type f32 >/dev/null
for sound in "$source_dir"/models/keywords/held-out/*.wav; do
  heard=$("$example/hear" "$here/keywords.mote" "$sound" | awk 'NR <= 3 { printf "%s%s %s", comma, $2, $1; comma = ", " }')
  expect "hear $sound" "$heard" "$(mote classify "$here/keywords.mote" --sound "$sound" --top 3 | sed 's/: .*//')"
done
if "$example/hear" "$here/keywords.mote" "$source_dir/README.md" 2>"$here/refused"; then fail "README.md was heard"; fi
grep -q "README.md: this is no WAV; ffmpeg" "$here/refused"

for name in "$source_dir"/examples/*.c "$source_dir"/examples/*.cpp; do
  grep -q "examples/$(basename "$name")" "$source_dir"/docs/{embedding,host}.md ||
    fail "neither docs/embedding.md nor docs/host.md names examples/$(basename "$name")"
done
