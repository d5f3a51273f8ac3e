// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/attention_page.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "converter/error.h"
#include "runtime/exec/attention_maps.h"
#include "tools/mote/html_page.h"
#include "tools/mote/text.h"

namespace mote::cli {
namespace {

using nlohmann::json;

constexpr size_t kMostTokens = 512;  // a page has their square for each head

struct Tokens {
  std::vector<int32_t> ids;
  std::vector<mote_span> spans;
};

Tokens tokens_of(const ModelFile& file, const std::string& text) {
  Tokens tokens;
  mote_error error = {};
  const mote_status status = with_text_room(file, nullptr, text.size(), [&](mote_session* session) {
    uint32_t count = 0;
    const auto run = [&] {
      return mote_tokenize(session, text.data(), text.size(), MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL,
                           tokens.ids.data(), count, &count, tokens.spans.data(), &error);
    };
    const mote_status counted = run();
    if (counted != MOTE_TOO_SMALL) return counted;
    tokens.ids.resize(count);
    tokens.spans.resize(count);
    return run();
  });
  check(status, error, file.path());
  return tokens;
}

/// What each token stands for; of one that is not of the text, its piece.
json texts_of(const ModelFile& file, const Tokens& tokens, const std::string& text) {
  json texts = json::array();
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    const mote_span span = tokens.spans[i];
    std::string piece = text.substr(span.begin, span.end - span.begin);
    if (piece.empty()) {
      TextStream stream(file, 0);
      piece = stream.next(tokens.ids[i]);
      piece += stream.finish();
    }
    texts.push_back(piece.empty() ? fmt::format("#{}", tokens.ids[i]) : piece);
  }
  return texts;
}

/// By operation: [head][row].
using Maps = std::map<uint32_t, std::vector<std::vector<json>>>;

void take_row(void* user, const AttentionRow& row) {
  std::vector<std::vector<json>>& heads = (*static_cast<Maps*>(user))[row.op];
  heads.resize(row.heads);
  json shares = json::array();
  for (uint32_t p = 0; p < row.keys; ++p)  // five digits say more than a screen can
    shares.push_back(std::round(double{row.probabilities[p]} * 1e5) / 1e5);
  heads[row.head].push_back(std::move(shares));
}

void no_trace(void*, const char*, const float*, uint32_t, uint32_t, size_t) {}

Maps compute_maps(const ModelFile& file, const ThreadPool& pool, const std::vector<int32_t>& ids) {
  SessionFlags flags;
  flags.kv = "f32";
  mote_session_options options = session_options(file, flags, pool);
  const auto count = static_cast<uint32_t>(ids.size());
  options.isa = MOTE_ISA_REF;
  options.context = options.chunk = count;
  options.logit_rows = 1;
  options.batch = 1;
  options.trace = no_trace;
  const Session session(file, options);
  std::vector<float> room(count);
  Maps maps;
  mote_error error = {};
  check(ask_for_attention_maps(session.get(), {take_row, &maps, room.data()}, &error), error, file.path());
  if (is_encoder(file)) {
    const uint32_t first = 0;
    mote_batch batch{};
    batch.ids = ids.data();
    batch.lengths = &count;
    batch.count = 1;
    batch.rows = &first;
    batch.row_count = 1;
    mote_output_info output;
    mote_model_get_output(file.model(), &output);
    if (output.of_sequences != 0) batch.rows = nullptr, batch.row_count = 0;
    check(mote_encode(session.get(), &batch, &error), error, file.path());
  } else {
    check(mote_prefill(session.get(), 0, ids.data(), count, MOTE_LOGITS_LAST, &error), error, file.path());
  }
  return maps;
}

constexpr const char* kStyle = R"(
#heads { display: grid; gap: 2px; margin: 0.5rem 0; overflow-x: auto; }
#heads button { padding: 0; min-width: 1.5rem; min-height: 1.5rem; border-width: 2px; }
#heads button[aria-pressed=true] { border-color: var(--mark); }
#heads canvas, #map { display: block; width: 100%; image-rendering: pixelated; }
#map { max-width: 40rem; border: 1px solid var(--line); touch-action: manipulation; }
#tokens { line-height: 2.1; margin: 0.5rem 0; }
#tokens button { min-width: 0; min-height: 0; padding: 0.15rem 0.25rem; margin: 0 0.1rem; white-space: pre-wrap;
  text-align: left; }
#tokens button[aria-pressed=true] { border: 2px solid var(--mark); }
nav button { padding: 0 0.75rem; }
#said { min-height: 1.5em; }
)";

constexpr const char* kBody = R"(
<p>Each row of a map is a token that asks, each column a token that it attends to; the darker, the more.
Arrow keys go through heads (left, right) and layers (up, down); Tab and Enter choose a token.</p>
<nav aria-label="Maps"><button id="up" aria-label="Layer before">&#8593;</button>
<button id="down" aria-label="Layer behind">&#8595;</button>
<button id="left" aria-label="Head before">&#8592;</button>
<button id="right" aria-label="Head behind">&#8594;</button></nav>
<p id="said" role="status"></p>
<div id="tokens" aria-label="Tokens"></div>
<canvas id="map" role="img" aria-label="The chosen map"></canvas>
<h2>All layers and heads</h2>
<div id="heads"></div>
)";

constexpr const char* kScript = R"(
const tokens = data.tokens, maps = data.maps, count = tokens.length;
const at = id => document.getElementById(id);
let layer = 0, head = 0, query = count - 1;
function shade(share) {
  const k = Math.sqrt(Math.min(1, share));
  return [253 - 230 * k, 253 - 150 * k, 251 - 90 * k];
}
function draw(canvas, map) {
  canvas.width = canvas.height = count;
  const context = canvas.getContext('2d'), image = context.createImageData(count, count);
  for (let i = 0; i < count; i++) for (let j = 0; j < count; j++) {
    const [r, g, b] = shade(map[i][j] || 0), p = 4 * (i * count + j);
    image.data[p] = r; image.data[p + 1] = g; image.data[p + 2] = b; image.data[p + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}
const buttons = tokens.map((text, i) => {
  const button = document.createElement('button');
  button.textContent = text;
  button.onclick = () => { query = i; show(); };
  at('tokens').append(button);
  return button;
});
const most = Math.max(...maps.map(heads => heads.length));
at('heads').style.gridTemplateColumns = `repeat(${most}, minmax(1.5rem, 1fr))`;
const small = maps.map((heads, l) => heads.map((map, h) => {
  const button = document.createElement('button'), canvas = document.createElement('canvas');
  button.setAttribute('aria-label', `Layer ${l}, head ${h}`);
  button.style.gridRow = l + 1;
  button.style.gridColumn = h + 1;
  button.onclick = () => { layer = l; head = h; show(); };
  draw(canvas, map);
  button.append(canvas);
  at('heads').append(button);
  return button;
}));
function percent(share) { return (100 * share).toFixed(1) + ' %'; }
function show() {
  const map = maps[layer][head], row = map[query];
  draw(at('map'), map);
  small.forEach((heads, l) => heads.forEach((button, h) =>
    button.setAttribute('aria-pressed', l === layer && h === head)));
  buttons.forEach((button, i) => {
    const share = row[i] || 0, [r, g, b] = shade(share);
    button.style.background = share > 0 ? `rgb(${r} ${g} ${b})` : '';
    button.style.color = share > 0 ? (share > 0.3 ? '#fff' : '#111') : '';
    button.setAttribute('aria-pressed', i === query);
    button.title = percent(share);
  });
  const best = row.indexOf(Math.max(...row));
  say(`Layer ${layer}, head ${head}: token ${query} "${tokens[query]}" attends most to token ${best} ` +
      `"${tokens[best]}", ${percent(row[best])}`);
}
function say(text) { at('said').textContent = text; }
at('map').onclick = event => {
  const box = at('map').getBoundingClientRect();
  const i = Math.min(count - 1, Math.floor((event.clientY - box.top) / box.height * count));
  const j = Math.min(count - 1, Math.floor((event.clientX - box.left) / box.width * count));
  query = i;
  show();
  say(`Layer ${layer}, head ${head}: token ${i} "${tokens[i]}" to token ${j} "${tokens[j]}", ` +
      percent(maps[layer][head][i][j] || 0));
};
function move(layers, heads) {
  layer = (layer + layers + maps.length) % maps.length;
  const all = maps[layer].length;
  head = (Math.min(head, all - 1) + heads + all) % all;
  show();
}
const moves = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
addEventListener('keydown', event => {
  if (!(event.key in moves) || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  move(...moves[event.key]);
});
at('up').onclick = () => move(-1, 0);
at('down').onclick = () => move(1, 0);
at('left').onclick = () => move(0, -1);
at('right').onclick = () => move(0, 1);
show();
)";

}  // namespace

json attention_maps(const ModelFile& file, const ThreadPool& pool, const std::string& text) {
  require_tokenizer(file, "its attention cannot be shown over a text");
  const Tokens tokens = tokens_of(file, text);
  if (tokens.ids.empty() || tokens.ids.size() > kMostTokens)
    convert::fail("the text has {} tokens; maps are of 1 to {}", tokens.ids.size(), kMostTokens);
  if (tokens.ids.size() > file.info().context)
    convert::fail("the text has {} tokens, the model a context of {}", tokens.ids.size(),
                  file.info().context);
  const Maps maps = compute_maps(file, pool, tokens.ids);
  if (maps.empty()) convert::fail("{} has no attention by scores", file.path());
  json result = {{"tokens", texts_of(file, tokens, text)}, {"maps", json::array()}};
  for (const auto& [op, heads] : maps) {
    json layer = json::array();
    for (const std::vector<json>& rows : heads) layer.push_back(rows);
    result["maps"].push_back(std::move(layer));
  }
  return result;
}

std::string attention_page(const std::string& title, const json& maps) {
  return to_html({title, kStyle, kBody, kScript}, maps);
}

}  // namespace mote::cli
