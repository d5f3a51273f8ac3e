#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The pages of mote inspect in a browser: keys and touches do what the page says, on a screen as narrow as a phone's too.
source "$(dirname "$0")/common.sh" "$@"
need chromium pages
here=$work/pages
rm -rf "$here"
mkdir -p "$here/t5"
cp "$source_dir"/tests/golden/models/t5/* "$source_dir/tests/golden/tokenizers/small/tokenizer.json" "$here/t5"
"$build_dir/mote" convert "$here/t5" -o "$here/t5.mote" --type f32 >/dev/null
"$build_dir/mote" inspect "$text_model" --attention -p 'the cat sat on the mat' --html "$here/attention.html"
"$build_dir/mote" inspect "$here/t5.mote" --attention -p 'the cat sat' --html "$here/cross.html"
"$build_dir/mote" inspect "$text_model" --graph --html "$here/graph.html"

# act PAGE SCRIPT: what the element `said` has after the script, and whether the page is wider than the screen.
act() {
  local page=$here/$1 probe=$here/probe.html
  sed 's|</body>||; s|</html>||' "$page" >"$probe"
  cat >>"$probe" <<END
<script>
const said = [], press = key => dispatchEvent(new KeyboardEvent('keydown', {key: key, cancelable: true}));
const note = () => said.push(document.getElementById('said').textContent);
$2
document.title = said.join(' | ') + (document.documentElement.scrollWidth > innerWidth ? ' | TOO WIDE' : '');
</script></body></html>
END
  chromium --headless --no-sandbox --disable-gpu --window-size=400,800 --user-data-dir="$here/profile" \
    --virtual-time-budget=2000 --dump-dom "file://$probe" 2>"$here/chromium.txt" |
    grep -o '<title>.*</title>' | head -1 || fail "chromium: $(tail -3 "$here/chromium.txt")"
}

# expect TEXT PATTERN...: the patterns come one after the other.
expect() {
  local text=$1 pattern=
  shift
  for one in "$@"; do pattern+=".*$one"; done
  grep -Eq "$pattern" <<<"$text" || fail "expected $pattern in: $text"
  if grep -q 'TOO WIDE' <<<"$text"; then fail "the page is wider than a phone: $text"; fi
}

expect "$(act attention.html "note(); press('ArrowRight'); note(); press('ArrowDown'); note(); press('ArrowUp');
  press('ArrowLeft'); note(); document.querySelector('#asking button').click(); note();
  document.querySelectorAll('#heads button')[1].click(); note();")" \
  'Layer 0, head 0: token' 'Layer 0, head 1: token' 'Layer 1, head 1: token' 'Layer 0, head 0: token' \
  'Layer 0, head 0: token 0 ' 'Layer 0, head 1: token 0 '
expect "$(act cross.html "note(); document.querySelectorAll('#parts button')[2].click(); note(); press('ArrowDown'); note();
  document.querySelector('#asking button').click(); note();")" \
  'Encoder, layer 0, head 0: token' 'Decoder to encoder, layer 0, head 0: token' \
  'Decoder to encoder, layer 1, head 0: token' 'Decoder to encoder, layer 1, head 0: token 0 .* attends most to token'
expect "$(act graph.html "note(); press('ArrowDown'); note(); document.querySelectorAll('#ops button')[3].click(); note();")" \
  'operation 0 of' 'operation 1 of' 'operation 3 of'
echo "pages of attention, of an encoder-decoder's and of operations answer keys and touches"
