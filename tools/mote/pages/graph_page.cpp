// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/pages/graph_page.h"

#include <cctype>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/mote/pages/html_page.h"

namespace mote::cli {
namespace {

using nlohmann::json;

/// The buffers that an operand list names: "b3[64:128] b7[0:8]" has 3 and 7.
std::vector<size_t> buffers_of(const std::string& operands) {
  std::vector<size_t> found;
  for (size_t i = 0; i + 1 < operands.size(); ++i) {
    const bool starts = i == 0 || std::isalnum(static_cast<unsigned char>(operands[i - 1])) == 0;
    if (!starts || operands[i] != 'b' || std::isdigit(static_cast<unsigned char>(operands[i + 1])) == 0)
      continue;
    found.push_back(std::stoul(operands.substr(i + 1)));
  }
  return found;
}

/// Returns the buffer that details name behind a "+ ", a residual; or nothing.
std::string added_in(const std::string& details) {
  const size_t at = details.find("+ b");
  return at == std::string::npos ? "" : details.substr(at + 2, details.find(']', at) - at);
}

constexpr const char* kStyle = R"(
svg { width: 100%; height: 17.5rem; border: 1px solid var(--line); background: var(--paper); }
svg rect { stroke: var(--paper); stroke-width: 1; vector-effect: non-scaling-stroke; }
svg line { stroke: var(--mark); stroke-width: 2; vector-effect: non-scaling-stroke; }
ol { list-style: none; padding: 0; margin: 0.5rem 0; }
li button { width: 100%; text-align: left; padding: 0.3rem 0.6rem; margin: 0 0 2px; }
li button[aria-pressed=true] { border: 2px solid var(--mark); }
li b { margin-right: 0.6rem; }
li code { font-size: 0.9em; }
small { display: block; opacity: 0.8; }
nav button { padding: 0 0.75rem; }
)";

constexpr const char* kBody = R"(
<p>A box of the plan is a buffer: from the first to the last operation that names it, and from its offset up.
Arrow keys go through the operations (up, down) and the programs (left, right).</p>
<nav aria-label="Operations"><button id="up" aria-label="Operation before">&#8593;</button>
<button id="down" aria-label="Operation behind">&#8595;</button>
<button id="left" aria-label="Program before">&#8592;</button>
<button id="right" aria-label="Program behind">&#8594;</button></nav>
<p id="said" role="status"></p>
<div id="plan"></div>
<ol id="ops"></ol>
)";

constexpr const char* kScript = R"(
const at = id => document.getElementById(id), svg = 'http://www.w3.org/2000/svg';
let program = 0, op = 0, items = [], cursor = null;
function element(name, values) {
  const made = document.createElementNS(svg, name);
  for (const [key, value] of Object.entries(values)) made.setAttribute(key, value);
  return made;
}
function draw_plan(part) {
  const top = Math.max(1, ...part.plan.streams.map(stream => stream.row_bytes));
  const count = part.ops.length, height = 240, streams = part.plan.streams.length;
  const picture = element('svg', {viewBox: `0 0 ${count} ${height}`, preserveAspectRatio: 'none',
    role: 'img', 'aria-label': 'Memory plan'});
  part.plan.buffers.forEach((buffer, i) => {
    if (buffer.first === undefined) return;
    const tall = Math.max(1, buffer.row_bytes / top * height / streams);
    const y = height * (buffer.stream + 1) / streams - buffer.offset / top * height / streams - tall;
    const box = element('rect', {x: buffer.first, y: y, width: buffer.last - buffer.first + 1, height: tall,
      fill: `hsl(${i * 67 % 360} 55% 60%)`});
    const title = element('title', {});
    title.textContent = `b${i}: ${buffer.width} ${buffer.dtype}, ${buffer.row_bytes} bytes of a row at ` +
      `${buffer.offset}, operations ${buffer.first} to ${buffer.last}`;
    box.append(title);
    picture.append(box);
  });
  cursor = element('line', {x1: 0.5, x2: 0.5, y1: 0, y2: height});
  picture.append(cursor);
  at('plan').replaceChildren(picture);
}
function span(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
function open(index) {
  program = index;
  op = 0;
  const part = data[program];
  draw_plan(part);
  items = part.ops.map((one, i) => {
    const item = document.createElement('li'), button = document.createElement('button');
    button.append(span('b', `${i} ${one.op}`), span('code', `${one.in} \u2192 ${one.out}`),
      span('small', one.details));
    button.onclick = () => { op = i; show(false); };
    item.append(button);
    return item;
  });
  at('ops').replaceChildren(...items);
  show(false);
}
function show(follow) {
  const part = data[program], alive = [];
  part.plan.buffers.forEach((buffer, i) => {
    if (buffer.first <= op && op <= buffer.last) alive.push(`b${i}`);
  });
  items.forEach((item, i) => item.firstChild.setAttribute('aria-pressed', i === op));
  cursor.setAttribute('x1', op + 0.5);
  cursor.setAttribute('x2', op + 0.5);
  at('said').textContent = `Program ${part.name}, operation ${op} of ${part.ops.length}; in use: ` +
    alive.join(' ');
  if (follow) items[op].scrollIntoView({block: 'nearest'});
}
function move(ops, programs) {
  if (programs !== 0) return open((program + programs + data.length) % data.length);
  op = Math.min(items.length - 1, Math.max(0, op + ops));
  show(true);
}
)";

}  // namespace

json graph_data(const json& programs) {
  json data = programs;
  for (json& program : data) {
    json& buffers = program.at("plan").at("buffers");
    const json& ops = program.at("ops");
    for (size_t i = 0; i < ops.size(); ++i) {
      for (const char* side : {"in", "out", "details"}) {
        std::string operands = ops[i].at(side).get<std::string>();
        if (side == std::string("details")) operands = added_in(operands);
        for (const size_t index : buffers_of(operands)) {
          json& buffer = buffers.at(index);
          if (!buffer.contains("first")) buffer["first"] = i;
          buffer["last"] = i;
        }
      }
    }
  }
  return data;
}

std::string graph_page(const std::string& title, const json& data) {
  return to_html({title, kStyle, kBody, kScript}, data);
}

}  // namespace mote::cli
