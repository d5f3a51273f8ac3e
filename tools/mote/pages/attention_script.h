// SPDX-License-Identifier: Apache-2.0
//
// Style, markup and script of the page of attention_page.h.
#pragma once

namespace mote::cli {

constexpr const char* kAttentionStyle = R"(
#heads { display: grid; gap: 2px; margin: 0.5rem 0; overflow-x: auto; }
#heads button { padding: 0; min-width: 1.5rem; min-height: 1.5rem; border-width: 2px; }
#heads span { font-size: 0.75rem; text-align: center; align-self: center; padding: 0 0.2rem; }
#heads .layer { position: sticky; left: 0; background: var(--paper); }
#heads canvas, #map { display: block; width: 100%; image-rendering: pixelated; }
#large { overflow: auto; max-height: 85vh; border: 1px solid var(--line); display: grid; width: 100%; box-sizing: border-box;
  grid-template-columns: max-content max-content; grid-template-rows: max-content max-content; }
#corner, #tops, #sides { background: var(--paper); position: sticky; z-index: 1; }
#corner { top: 0; left: 0; z-index: 2; font-size: 0.7rem; padding: 0.15rem 0.3rem; box-sizing: border-box; }
#tops { top: 0; display: flex; height: 5.5rem; }
#sides { left: 0; }
#tops span, #sides span { font-size: 0.75rem; white-space: pre; overflow: hidden; text-overflow: ellipsis; box-sizing: border-box; }
#tops span { writing-mode: vertical-rl; transform: rotate(180deg); display: flex; align-items: center; padding: 0.2rem 0; flex: none; }
#sides span { display: block; text-align: right; padding: 0 0.3rem; max-width: 6.5rem; }
#sides .query { outline: 2px solid var(--mark); outline-offset: -2px; font-weight: bold; }
#cells { position: relative; }
#map { touch-action: manipulation; cursor: pointer; height: 100%; }
#cells span { position: absolute; pointer-events: none; font-size: 0.75rem; text-align: center; }
#legend { display: flex; flex-wrap: wrap; align-items: center; gap: 0.2rem; font-size: 0.85rem; margin: 0.4rem 0; }
#legend span { padding: 0.05rem 0.5rem; border: 1px solid var(--line); }
.tokens { line-height: 2.1; margin: 0.5rem 0; max-height: 12rem; overflow-y: auto; }
.tokens > * { display: inline-block; font: inherit; min-width: 0; min-height: 1.6rem; padding: 0.15rem 0.25rem;
  margin: 0 0.1rem; white-space: pre-wrap; text-align: left; line-height: 1.4; border: 1px solid var(--line);
  border-radius: 0.4rem; }
button[aria-pressed=true] { border-color: var(--mark); box-shadow: inset 0 0 0 1px var(--mark); }
h2 { font-size: 1rem; margin: 1rem 0 0.3rem; }
nav { margin: 0.3rem 0; }
nav button, #parts button { padding: 0 0.75rem; margin: 0 0.2rem 0.2rem 0; }
#said { min-height: 1.5em; }
)";

constexpr const char* kAttentionBody = R"(
<p>Each row of a map is a token that asks, each column a token that it attends to; the further a cell is from
the page's colour, the more. Arrow keys go through the heads (left, right) and the layers (up, down); a token
shows its row, a cell its share.</p>
<div id="parts"></div>
<nav aria-label="Heads"><button id="up" aria-label="Layer before">&#8593;</button>
<button id="down" aria-label="Layer behind">&#8595;</button>
<button id="left" aria-label="Head before">&#8592;</button>
<button id="right" aria-label="Head behind">&#8594;</button></nav>
<p id="said" role="status"></p>
<div id="asking" class="tokens" role="group" aria-label="Tokens that ask"></div>
<div id="asked" class="tokens" role="group" aria-label="Tokens that are attended to"></div>
<div id="legend" role="img" aria-label="Colours of shares, from 0 to 100 percent"></div>
<div id="large"><div id="corner">asks &#8595; is asked &#8594;</div><div id="tops"></div><div id="sides"></div>
<div id="cells"><canvas id="map" role="img" aria-label="The chosen map"></canvas></div></div>
<h2>All layers and heads</h2>
<div id="heads"></div>
)";

constexpr const char* kAttentionScript = R"(
const at = id => document.getElementById(id);
const names = {encoder: 'Encoder', decoder: 'Decoder', cross: 'Decoder to encoder', text: 'Text'};
let part = 0, layer = 0, head = 0, query = 0, rows = [], columns = [], maps = [], small = [], asking = [], asked = [],
  sides = [], numbers = [];
function made(name, text) {
  const one = document.createElement(name);
  if (text !== undefined) one.textContent = text;
  return one;
}
const dark = matchMedia('(prefers-color-scheme: dark)');
const ends = {false: [[253, 253, 251], [16, 78, 139]], true: [[22, 27, 32], [150, 214, 255]]};
// The page's colour for nothing, the other end for all; roots let small shares be seen.
function shade(share) {
  const k = Math.sqrt(Math.min(1, share)), [none, all] = ends[dark.matches];
  return none.map((from, i) => Math.round(from + (all[i] - from) * k));
}
function luminance(colour) {
  const [r, g, b] = colour.map(c => c / 255 <= 0.04045 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
// Black or white, whichever has more contrast with the colour: at least 4.5 to 1.
function ink(colour) { return luminance(colour) > 0.179 ? '#000' : '#fff'; }
function paint(one, share) {
  const colour = shade(share);
  one.style.background = `rgb(${colour.join(' ')})`;
  one.style.color = ink(colour);
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
  button.style.gridRow = l + 2;
  button.style.gridColumn = h + 2;
  button.onclick = () => { layer = l; head = h; show(); };
  button.draw = () => draw(canvas, map);
  button.draw();
  button.append(canvas);
  return button;
}
function label(text, row, column, name) {
  const one = made('span', text);
  one.style.gridRow = row;
  one.style.gridColumn = column;
  one.className = name;
  return one;
}
function legend() {
  at('legend').replaceChildren(made('b', 'Share: '), ...[0, 0.02, 0.1, 0.25, 0.5, 1].map(share => {
    const one = made('span', `${100 * share} %`);
    paint(one, share);
    return one;
  }));
}
// Cells fill the width; where they would be too narrow for a label, the map scrolls below its labels.
function lay_out() {
  const side = Math.min(104, Math.max(72, 16 + 7 * Math.max(...rows.map(text => text.length))));
  const wide = Math.max(15, (at('large').clientWidth - side - 1) / columns.length);
  const tall = Math.max(17, Math.min(34, wide));
  at('corner').style.width = `${side}px`;
  at('cells').style.width = `${wide * columns.length}px`;
  at('cells').style.height = `${tall * rows.length}px`;
  const shown = text => (text.trim() === '' ? text.replaceAll(' ', '\u2423') : text).replaceAll('\n', '\u23ce');
  at('tops').replaceChildren(...columns.map((text, i) => {
    const one = made('span', shown(text));
    one.style.width = `${wide}px`;
    one.title = `token ${i}`;
    return one;
  }));
  at('sides').replaceChildren(...rows.map((text, i) => {
    const one = made('span', shown(text));
    one.style.height = one.style.lineHeight = `${tall}px`;
    one.style.width = `${side}px`;
    one.title = `token ${i}`;
    return one;
  }));
  sides = [...at('sides').children];
  numbers = [];
  if (wide >= 30 && rows.length * columns.length <= 900)
    numbers = rows.map((_, i) => columns.map((_, j) => {
      const one = made('span');
      Object.assign(one.style, {left: `${j * wide}px`, top: `${i * tall}px`, width: `${wide}px`, lineHeight: `${tall}px`});
      return one;
    }));
  at('cells').replaceChildren(at('map'), ...numbers.flat());
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
  const most = Math.max(...maps.map(heads => heads.length));
  at('heads').style.gridTemplateColumns = `max-content repeat(${most}, minmax(1.5rem, 1fr))`;
  small = maps.map((heads, l) => heads.map((map, h) => head_button(map, l, h)));
  at('heads').replaceChildren(label('layer', 1, 1, 'layer'),
    ...Array.from({length: most}, (_, h) => label(h === 0 ? 'head 0' : h, 1, h + 2, '')),
    ...maps.map((_, l) => label(l, l + 2, 1, 'layer')), ...small.flat());
  lay_out();
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
    paint(token, row[i] || 0);
    token.title = percent(row[i] || 0);
  });
  asking.forEach((button, i) => button.setAttribute('aria-pressed', i === query));
  sides.forEach((one, i) => one.classList.toggle('query', i === query));
  numbers.forEach((cells, i) => cells.forEach((one, j) => {
    const share = map[i][j] || 0;
    one.textContent = share < 0.005 ? '' : Math.round(100 * share);
    one.style.color = ink(shade(share));
  }));
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
dark.addEventListener('change', () => {
  legend();
  small.flat().forEach(button => button.draw());
  asking.forEach(button => { button.style.background = button.style.color = ''; });
  show();
});
let drawn = innerWidth;
addEventListener('resize', () => {
  if (drawn === innerWidth) return;
  drawn = innerWidth;
  lay_out();
  show();
});
legend();
)";

}  // namespace mote::cli
