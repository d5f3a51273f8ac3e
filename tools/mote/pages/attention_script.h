// SPDX-License-Identifier: Apache-2.0
//
// Style, markup and script of the page of attention_page.h.
#pragma once

namespace mote::cli {

constexpr const char* kAttentionStyle = R"(
#heads { display: grid; gap: 2px; margin: 0.5rem 0; overflow-x: auto; }
#heads button { padding: 0; min-width: 1.5rem; min-height: 1.5rem; border-width: 2px; }
#heads canvas, #map { display: block; width: 100%; image-rendering: pixelated; }
#map { max-width: 40rem; border: 1px solid var(--line); touch-action: manipulation; }
.tokens { line-height: 2.1; margin: 0.5rem 0; }
.tokens > * { display: inline-block; font: inherit; min-width: 0; min-height: 1.6rem; padding: 0.15rem 0.25rem;
  margin: 0 0.1rem; white-space: pre-wrap; text-align: left; line-height: 1.4; border: 1px solid var(--line);
  border-radius: 0.4rem; }
button[aria-pressed=true] { border-color: var(--mark); box-shadow: inset 0 0 0 1px var(--mark); }
nav { margin: 0.3rem 0; }
nav button { padding: 0 0.75rem; }
#said { min-height: 1.5em; }
)";

constexpr const char* kAttentionBody = R"(
<p>Each row of a map is a token that asks, each column a token that it attends to; the darker, the more.
Arrow keys go through heads (left, right) and layers (up, down); Tab and Enter choose a token.</p>
<nav id="parts" aria-label="Parts of the model"></nav>
<nav aria-label="Maps"><button id="up" aria-label="Layer before">&#8593;</button>
<button id="down" aria-label="Layer behind">&#8595;</button>
<button id="left" aria-label="Head before">&#8592;</button>
<button id="right" aria-label="Head behind">&#8594;</button></nav>
<p id="said" role="status"></p>
<div id="asking" class="tokens" role="group" aria-label="Tokens that ask"></div>
<div id="asked" class="tokens" role="group" aria-label="Tokens that are attended to"></div>
<canvas id="map" role="img" aria-label="The chosen map"></canvas>
<h2>All layers and heads</h2>
<div id="heads"></div>
)";

constexpr const char* kAttentionScript = R"(
const at = id => document.getElementById(id);
const names = {encoder: 'Encoder', decoder: 'Decoder', cross: 'Decoder to encoder', text: 'Text'};
let part = 0, layer = 0, head = 0, query = 0, rows = [], columns = [], maps = [], small = [], asking = [], asked = [];
function made(name, text) {
  const one = document.createElement(name);
  if (text !== undefined) one.textContent = text;
  return one;
}
function shade(share) {
  const k = Math.sqrt(Math.min(1, share));
  return [253 - 230 * k, 253 - 150 * k, 251 - 90 * k];
}
function draw(canvas, map) {
  const wide = columns.length, tall = rows.length;
  canvas.width = wide;
  canvas.height = tall;
  const context = canvas.getContext('2d'), image = context.createImageData(wide, tall);
  for (let i = 0; i < tall; i++) for (let j = 0; j < wide; j++) {
    const [r, g, b] = shade(map[i][j] || 0), p = 4 * (i * wide + j);
    image.data[p] = r; image.data[p + 1] = g; image.data[p + 2] = b; image.data[p + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}
const choices = data.parts.map((one, i) => {
  const button = made('button', names[one.name]);
  button.onclick = () => open(i);
  return button;
});
if (choices.length > 1) at('parts').append(...choices);
function head_button(map, l, h) {
  const button = made('button'), canvas = made('canvas');
  button.setAttribute('aria-label', `Layer ${l}, head ${h}`);
  button.style.gridRow = l + 1;
  button.style.gridColumn = h + 1;
  button.onclick = () => { layer = l; head = h; show(); };
  draw(canvas, map);
  button.append(canvas);
  return button;
}
function open(index) {
  part = index;
  ({rows, columns, maps} = data.parts[part]);
  layer = head = 0;
  query = rows.length - 1;
  asking = rows.map((text, i) => {
    const button = made('button', text);
    button.onclick = () => { query = i; show(); };
    return button;
  });
  const same = rows.length === columns.length && rows.every((text, i) => text === columns[i]);
  asked = same ? asking : columns.map(text => made('span', text));
  at('asking').replaceChildren(...asking);
  at('asked').replaceChildren(...(same ? [] : asked));
  at('heads').style.gridTemplateColumns =
    `repeat(${Math.max(...maps.map(heads => heads.length))}, minmax(1.5rem, 1fr))`;
  small = maps.map((heads, l) => heads.map((map, h) => head_button(map, l, h)));
  at('heads').replaceChildren(...small.flat());
  show();
}
function percent(share) { return (100 * share).toFixed(1) + ' %'; }
function place() { return `${choices.length > 1 ? names[data.parts[part].name] + ', layer' : 'Layer'} ${layer}, head ${head}`; }
function say(text) { at('said').textContent = text; }
function show() {
  const map = maps[layer][head], row = map[query];
  draw(at('map'), map);
  choices.forEach((button, i) => button.setAttribute('aria-pressed', i === part));
  small.forEach((heads, l) => heads.forEach((button, h) =>
    button.setAttribute('aria-pressed', l === layer && h === head)));
  asked.forEach((token, i) => {
    const share = row[i] || 0, [r, g, b] = shade(share);
    token.style.background = share > 0 ? `rgb(${r} ${g} ${b})` : '';
    token.style.color = share > 0 ? (share > 0.3 ? '#fff' : '#111') : '';
    token.title = percent(share);
  });
  asking.forEach((button, i) => button.setAttribute('aria-pressed', i === query));
  const best = row.indexOf(Math.max(...row));
  say(`${place()}: token ${query} "${rows[query]}" attends most to token ${best} ` +
      `"${columns[best]}", ${percent(row[best])}`);
}
at('map').onclick = event => {
  const box = at('map').getBoundingClientRect();
  const i = Math.min(rows.length - 1, Math.floor((event.clientY - box.top) / box.height * rows.length));
  const j = Math.min(columns.length - 1, Math.floor((event.clientX - box.left) / box.width * columns.length));
  query = i;
  show();
  say(`${place()}: token ${i} "${rows[i]}" to token ${j} "${columns[j]}", ` +
      percent(maps[layer][head][i][j] || 0));
};
function move(layers, heads) {
  layer = (layer + layers + maps.length) % maps.length;
  const all = maps[layer].length;
  head = (Math.min(head, all - 1) + heads + all) % all;
  show();
}
)";

}  // namespace mote::cli
