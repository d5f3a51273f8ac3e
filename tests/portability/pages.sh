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

settings=  # of the browser, besides
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
  chromium --headless --no-sandbox --disable-gpu --window-size=400,800 ${settings:+"$settings"} --user-data-dir="$here/profile" \
    --virtual-time-budget=2000 --dump-dom "file://$probe" 2>"$here/chromium.txt" |
    grep -o '<title>.*</title>' | awk 'NR == 1' || fail "chromium: $(tail -3 "$here/chromium.txt")"
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

# Rows and columns of the map have their tokens, small maps their numbers, the legend its shares, and letters on chips a
# contrast of 4.5 and more. `seen` is what a page shows in both modes.
contrast='const channel = c => c / 255 <= 0.04045 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4;
  const light = text => { const [r, g, b] = text.match(/[0-9.]+/g).map(Number).map(channel); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ratio = one => { const style = getComputedStyle(one), a = light(style.color), b = light(style.backgroundColor);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); };'
for scheme in 0 1; do
  settings="--blink-settings=preferredColorScheme=$scheme"
  expect "$(act attention.html "$contrast const all = query => [...document.querySelectorAll(query)];
    said.push('labels ' + (all('#tops span').length === columns.length && all('#sides span').length === rows.length));
    said.push('numbers ' + (all('#heads span').length === 1 + maps.length + Math.max(...maps.map(heads => heads.length))));
    said.push('legend ' + all('#legend span').length);
    said.push('contrast ' + [...all('#asking button'), ...all('#legend span')].every(one => ratio(one) >= 4.5));
    said.push('width ' + (at('cells').getBoundingClientRect().width + at('sides').getBoundingClientRect().width >= at('large').clientWidth - 2));
    said.push(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark ' + (shade(0)[0] < 40) : 'light ' + (shade(0)[0] > 200));")" \
    'labels true' 'numbers true' 'legend 6' 'contrast true' 'width true' '(dark|light) true'
done
settings=

# Boxes that are drawn do not overlap, each stream has its axes, and names stand in boxes.
expect "$(act graph.html "let apart = 0, over = 0;
  for (const chart of document.querySelectorAll('.scroll svg')) {
    const boxes = [...chart.querySelectorAll('rect')].map(one => ['x', 'y', 'width', 'height'].map(name => +one.getAttribute(name)));
    boxes.forEach(([x, y, w, h], i) => boxes.slice(0, i).forEach(([x2, y2, w2, h2]) => {
      if (x + w > x2 + 0.01 && x2 + w2 > x + 0.01 && y + h > y2 + 0.01 && y2 + h2 > y + 0.01) ++over; else ++apart;
    }));
  }
  said.push(apart > 20 ? 'many' : 'few', 'over ' + over, 'streams ' + (document.querySelectorAll('.chart').length === data[0].plan.streams.length));
  said.push('axes ' + [...document.querySelectorAll('.chart')].every(chart => / [KM]?i?B/.test(chart.firstChild.textContent)));
  said.push('names ' + document.querySelector('.scroll svg .name').textContent);")" 'many' 'over 0' 'streams true' 'axes true' 'names b[0-9]+'
echo "pages of attention, of an encoder-decoder's and of operations answer keys and touches"
