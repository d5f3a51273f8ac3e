// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/pages/attention_page.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "host/base/error.h"
#include "host/tasks/attention.h"
#include "host/tasks/text.h"
#include "tools/mote/pages/attention_script.h"
#include "tools/mote/pages/html_page.h"
#include "tools/mote/signals.h"
#include "tools/mote/text.h"
#include "tools/mote/tokens.h"

namespace mote::cli {
namespace {

using nlohmann::json;

/// Returns the text that each token stands for; for a token that is not of the text, its piece.
json texts_of(const ModelFile& file, const host::TokenList& tokens, const std::string& text) {
  json texts = json::array();
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    const mote_span span = tokens.spans[i];
    std::string piece = text.substr(span.begin, span.end - span.begin);
    if (piece.empty()) piece = text_of_ids(file, {&tokens.ids[i], 1}, 0);
    texts.push_back(piece.empty() ? fmt::format("#{}", tokens.ids[i]) : piece);
  }
  return texts;
}

/// Returns [head][row][position], in each row the positions up to the last that it sees.
json layer_of(const host::AttentionMap& map) {
  json layer = json::array();
  for (uint32_t head = 0; head < map.heads; ++head) {
    json rows = json::array();
    for (uint32_t row = 0; row < map.rows; ++row) {
      const size_t at = size_t{head} * map.rows + row;
      json shares = json::array();
      for (uint32_t p = 0; p < map.row_keys[at]; ++p)  // five digits say more than a screen can
        shares.push_back(std::round(double{map.probabilities[at * map.keys + p]} * 1e5) / 1e5);
      rows.push_back(std::move(shares));
    }
    layer.push_back(std::move(rows));
  }
  return layer;
}

/// Returns the piece of each token by itself.
json pieces_of(const ModelFile& file, const std::vector<int32_t>& ids) {
  json texts = json::array();
  for (const int32_t id : ids) {
    const std::string piece = text_of_ids(file, {&id, 1}, MOTE_KEEP_LEADING_SPACE);
    texts.push_back(piece.empty() ? fmt::format("#{}", id) : piece);
  }
  return texts;
}

json part_of(const std::string& name, const json& rows, const json& columns) {
  return {{"name", name}, {"rows", rows}, {"columns", columns}, {"maps", json::array()}};
}

}  // namespace

json attention_maps(const ModelFile& file, const ThreadPool& pool, const std::string& text) {
  require_tokenizer(file, "its attention cannot be shown over a text");
  const InterruptGuard guard;
  const host::AttentionMaps found =
      take(host::attention_maps(file.host(), session_choices(file, {}, pool), text, hooks()));
  const bool has_targets = file.host().has_source();
  const json source = texts_of(file, found.tokens, text), target = pieces_of(file, found.answer);
  std::vector<json> parts;
  if (has_targets) {
    parts = {part_of("encoder", source, source), part_of("decoder", target, target),
             part_of("cross", target, source)};
  } else {
    parts = {part_of("text", source, source)};
  }
  for (const host::AttentionMap& map : found.maps) {
    const size_t part = !has_targets || map.program != 0 ? 0 : map.crosses ? 2 : 1;
    parts[part]["maps"].push_back(layer_of(map));
  }
  return {{"parts", parts}};
}

std::string attention_page(const std::string& title, const json& maps) {
  return to_html({title, kAttentionStyle, kAttentionBody, kAttentionScript}, maps);
}

}  // namespace mote::cli
