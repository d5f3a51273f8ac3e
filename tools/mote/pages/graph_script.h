// SPDX-License-Identifier: Apache-2.0
//
// Style, markup and script of the page of graph_page.h.
#pragma once

namespace mote::cli {

constexpr const char* kGraphStyle = R"(
h2 { font-size: 1rem; margin: 1rem 0 0.2rem; }
.chart { display: flex; }
.chart svg { display: block; flex: none; font: 0.75rem system-ui, sans-serif; }
.scroll { overflow-x: auto; flex: 1; min-width: 0; }
.chart text { fill: var(--ink); }
.chart rect { stroke: var(--paper); stroke-width: 1; cursor: pointer; }
.chart rect.alive { stroke: var(--ink); stroke-width: 2; }
.chart text.name { fill: #111; pointer-events: none; }
.chart line { stroke: var(--line); stroke-width: 1; }
.chart line.cursor { stroke: var(--ink); stroke-width: 2; stroke-dasharray: 4 3; pointer-events: none; }
.note { margin: 0; font-size: 0.9em; opacity: 0.85; }
ol { list-style: none; padding: 0; margin: 0.75rem 0; }
li button { width: 100%; text-align: left; padding: 0.3rem 0.6rem; margin: 0 0 2px; }
button[aria-pressed=true] { border: 2px solid var(--mark); }
li b { margin-right: 0.6rem; }
li code { font-size: 0.9em; }
small { display: block; opacity: 0.8; }
nav button, #parts button { padding: 0 0.75rem; margin: 0 0.2rem 0.2rem 0; }
nav { position: sticky; top: 0; background: var(--paper); z-index: 1; padding: 0.2rem 0; }
)";

constexpr const char* kGraphBody = R"(
<p>A box is a buffer for as long as it holds a value that is still read: across, from the operation that writes
it to the last that reads it; upwards, its bytes of a row. Boxes of one stream share its memory and never
overlap. Arrow keys go through the operations (up, down) and the programs (left, right).</p>
<div id="parts"></div>
<nav aria-label="Operations"><button id="up" aria-label="Operation before">&#8593;</button>
<button id="down" aria-label="Operation behind">&#8595;</button>
<button id="left" aria-label="Program before">&#8592;</button>
<button id="right" aria-label="Program behind">&#8594;</button></nav>
<p id="said" role="status"></p>
<div id="plan"></div>
<h2>Operations</h2>
<ol id="ops"></ol>
)";

constexpr const char* kGraphScript = R"(
const at = id => document.getElementById(id), svg = 'http://www.w3.org/2000/svg';
const colours = ['#56b4e9', '#e69f00', '#35b58c', '#f0e442', '#6f9fd8', '#e88a4f', '#d9a0c2', '#b9b9b9'];
const left = 72, top_room = 8, bottom = 34, per_op = 9;
let program = 0, op = 0, items = [], charts = [];
function element(name, values, text) {
  const made = document.createElementNS(svg, name);
  for (const [key, value] of Object.entries(values)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
function made(name, text) {
  const one = document.createElement(name);
  one.textContent = text;
  return one;
}
function bytes(count) {
  for (const [unit, size] of [['MiB', 1048576], ['KiB', 1024]])
    if (count >= size) return `${+(count / size).toFixed(count % size ? 1 : 0)} ${unit}`;
  return `${count} B`;
}
// At most `most` steps of 1, 2 or 4 times a power, of 2 for bytes, of 10 for operations.
function step_of(total, most, base) {
  for (let step = 1; ; step *= base) {
    for (const times of base === 2 ? [1] : [1, 2, 5]) if (total / (step * times) <= most) return step * times;
  }
}
function alive(part, stream, one) {
  return part.plan.buffers.map((buffer, i) => ({...buffer, i})).filter(buffer => buffer.stream === stream &&
    buffer.stretches.some(([first, last]) => first <= one && one <= last));
}
function peak_of(part, stream) {
  let most = {bytes: 0, op: 0};
  part.ops.forEach((_, i) => {
    const used = alive(part, stream, i).reduce((sum, buffer) => sum + buffer.row_bytes, 0);
    if (used > most.bytes) most = {bytes: used, op: i};
  });
  return most;
}
function axis_of(stream, height) {
  const axis = element('svg', {width: left, height: height + top_room + bottom, 'aria-hidden': true});
  const step = step_of(stream.row_bytes, 4, 2);
  for (let mark = 0; mark <= stream.row_bytes; mark += step) {
    const y = top_room + height - mark / stream.row_bytes * height;
    axis.append(element('line', {x1: left - 5, x2: left, y1: y, y2: y}),
      element('text', {x: left - 8, y: y + 4, 'text-anchor': 'end'}, bytes(mark)));
  }
  axis.append(element('text', {x: left - 8, y: height + top_room + 30, 'text-anchor': 'end'}, 'operation'));
  return {axis, step};
}
function draw_stream(part, index, room) {
  const stream = part.plan.streams[index], count = part.ops.length, total = Math.max(1, stream.row_bytes);
  const boxes = part.plan.buffers.map((buffer, i) => ({...buffer, i})).filter(buffer => buffer.stream === index);
  const height = boxes.length < 3 ? 72 : 240, scale = Math.max(per_op, (room - left - 4) / count);
  const width = scale * count, {axis, step} = axis_of({...stream, row_bytes: total}, height);
  const picture = element('svg', {width: width + 2, height: height + top_room + bottom, role: 'img',
    'aria-label': `Memory plan of stream ${index}`});
  for (let mark = 0; mark <= total; mark += step) {
    const y = top_room + height - mark / total * height;
    picture.append(element('line', {x1: 0, x2: width, y1: y, y2: y}));
  }
  const every = step_of(count, width / 56, 10);
  for (let i = 0; i < count; i += every) picture.append(
    element('line', {x1: (i + 0.5) * scale, x2: (i + 0.5) * scale, y1: top_room + height, y2: top_room + height + 5}),
    element('text', {x: (i + 0.5) * scale, y: top_room + height + 18,
      'text-anchor': i === 0 ? 'start' : 'middle'}, i));
  const rects = [];
  for (const buffer of boxes) for (const [first, last] of buffer.stretches) {
    const tall = Math.max(2, buffer.row_bytes / total * height), wide = (last - first + 1) * scale;
    const y = top_room + height - buffer.offset / total * height - tall, name = `b${buffer.i}`;
    const box = element('rect', {x: first * scale, y: y, width: wide, height: tall,
      fill: colours[buffer.i % colours.length]});
    box.append(element('title', {}, `${name}: ${buffer.width} ${buffer.dtype}, ${bytes(buffer.row_bytes)} of a row ` +
      `at ${bytes(buffer.offset)}, operations ${first} to ${last}`));
    rects.push({box, first, last});
    picture.append(box);
    const names = Math.ceil(wide / 260);  // one is in sight wherever the plan is scrolled to
    for (let n = 0; tall >= 13 && wide >= 8 * name.length && n < names; n++) picture.append(element('text', {class: 'name',
      x: first * scale + wide * (n + 0.5) / names, y: y + tall / 2 + 4, 'text-anchor': 'middle'}, name));
  }
  const cursor = element('line', {class: 'cursor', y1: 0, y2: height + top_room});
  picture.append(cursor);
  picture.onclick = event => {
    op = Math.min(count - 1, Math.floor((event.clientX - picture.getBoundingClientRect().left) / scale));
    show(false);
  };
  const scroll = made('div'), chart = made('div'), whole = made('section'), peak = peak_of(part, index);
  scroll.className = 'scroll';
  scroll.append(picture);
  chart.className = 'chart';
  chart.append(axis, scroll);
  const note = made('p', `Most in use: ${bytes(peak.bytes)} of ${bytes(stream.row_bytes)} of a row, at operation ` +
    `${peak.op}, ${part.ops[peak.op].op}.`);
  note.className = 'note';
  whole.append(made('h2', `Stream ${index}: ${stream.of === undefined ? 'a row for each ' + (stream.rows === 'selected' ? 'selected token' : stream.rows) :
    stream.grid_times ? `${stream.grid_times} places for ${stream.grid_every} patches of a side` : 'rows of groups of stream ' + stream.of}, ${bytes(stream.row_bytes)}`), note, chart);
  charts.push({cursor, scroll, scale, rects});
  return whole;
}
function draw_plan() {
  const part = data[program], room = at('plan').clientWidth;
  charts = [];
  at('plan').replaceChildren(...part.plan.streams.map((_, i) => draw_stream(part, i, room)));
}
const choices = data.map((part, i) => {
  const button = made('button', `Program ${part.name}`);
  button.onclick = () => open(i);
  return button;
});
if (choices.length > 1) at('parts').append(...choices);
else for (const id of ['left', 'right']) at(id).hidden = true;
function open(index) {
  program = index;
  op = 0;
  choices.forEach((button, i) => button.setAttribute('aria-pressed', i === program));
  draw_plan();
  items = data[program].ops.map((one, i) => {
    const item = document.createElement('li'), button = document.createElement('button');
    button.append(made('b', `${i} ${one.op}`), made('code', `${one.in} \u2192 ${one.out}`),
      made('small', one.details));
    button.onclick = () => { op = i; show(false); };
    item.append(button);
    return item;
  });
  at('ops').replaceChildren(...items);
  show(false);
}
function show(follow) {
  const part = data[program];
  items.forEach((item, i) => item.firstChild.setAttribute('aria-pressed', i === op));
  charts.forEach(({cursor, scroll, scale, rects}) => {
    const x = (op + 0.5) * scale;
    cursor.setAttribute('x1', x);
    cursor.setAttribute('x2', x);
    for (const {box, first, last} of rects) box.setAttribute('class', first <= op && op <= last ? 'alive' : '');
    if (x < scroll.scrollLeft + scale || x > scroll.scrollLeft + scroll.clientWidth - scale)
      scroll.scrollLeft = x - scroll.clientWidth / 2;
  });
  const used = part.plan.streams.flatMap((_, stream) => alive(part, stream, op));
  at('said').textContent = `Program ${part.name}, operation ${op} of ${part.ops.length}, ${part.ops[op].op}; in use: ` +
    used.map(buffer => `b${buffer.i} ${bytes(buffer.row_bytes)}`).join(', ');
  if (follow) items[op].scrollIntoView({block: 'nearest'});
}
function move(ops, programs) {
  if (programs !== 0) return open((program + programs + data.length) % data.length);
  op = Math.min(items.length - 1, Math.max(0, op + ops));
  show(true);
}
let drawn = innerWidth;
addEventListener('resize', () => {
  if (drawn === innerWidth) return;
  drawn = innerWidth;
  draw_plan();
  show(false);
});
)";

}  // namespace mote::cli
