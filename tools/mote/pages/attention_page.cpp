// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/pages/attention_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "host/base/error.h"
#include "host/tasks/source_search.h"
#include "host/tasks/text.h"
#include "mote/attention.h"
#include "mote/beams.h"
#include "schema/mote_generated.h"
#include "tools/mote/pages/attention_script.h"
#include "tools/mote/pages/html_page.h"
#include "tools/mote/text.h"

namespace mote::cli {
namespace {

using nlohmann::json;

constexpr size_t kMostTokens = 512;  // a page has their square for each head

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

/// By program and operation: [head][row].
using Maps = std::map<std::pair<uint32_t, uint32_t>, std::vector<std::vector<json>>>;

void take_row(void* user, const mote_attention_row* given) {
  const mote_attention_row& row = *given;
  std::vector<std::vector<json>>& heads = (*static_cast<Maps*>(user))[{row.program, row.op}];
  heads.resize(row.heads);
  json shares = json::array();
  for (uint32_t p = 0; p < row.keys; ++p)  // five digits say more than a screen can
    shares.push_back(std::round(double{row.probabilities[p]} * 1e5) / 1e5);
  heads[row.head].push_back(std::move(shares));
}

void no_trace(void*, const char*, const float*, uint32_t, uint32_t, size_t) {}

void encode_ids(const Session& session, const ModelFile& file, const std::vector<int32_t>& ids) {
  const auto count = static_cast<uint32_t>(ids.size());
  const uint32_t first = 0;
  mote_batch batch{};
  batch.ids = ids.data();
  batch.lengths = &count;
  batch.count = 1;
  mote_output_info output;
  mote_model_get_output(file.model(), &output);
  if (is_encoder(file) && output.of_sequences == 0) batch.rows = &first, batch.row_count = 1;
  mote_error error = {};
  check(mote_encode(session.get(), &batch, &error), error, file.path());
}

/// Computes the maps of a text and, where the model generates over it, of the tokens that it generates.
Maps compute_maps(const ModelFile& file, const ThreadPool& pool, const std::vector<int32_t>& ids,
                  const std::vector<int32_t>& targets) {
  SessionFlags flags;
  flags.kv = "f32";
  mote_session_options options = session_options(file, flags, pool);
  const bool has_targets = !targets.empty();
  const std::vector<int32_t>& tokens = has_targets ? targets : ids;
  const size_t most = std::max(ids.size(), targets.size());
  options.isa = MOTE_ISA_REF;
  options.chunk = static_cast<uint32_t>(most);
  options.context = static_cast<uint32_t>(tokens.size());
  options.logit_rows = 1;
  options.batch = 1;
  options.trace = no_trace;
  const Session session(file, options);
  std::vector<float> room(mote_attention_room(session.get()));
  Maps maps;
  mote_error error = {};
  check(mote_session_watch_attention(session.get(), take_row, &maps, room.data(),
                                     static_cast<uint32_t>(room.size()), &error),
        error, file.path());
  if (is_encoder(file) || has_targets) encode_ids(session, file, ids);
  if (is_encoder(file)) return maps;
  const auto count = static_cast<uint32_t>(tokens.size());
  check(mote_prefill(session.get(), 0, tokens.data(), count, MOTE_LOGITS_LAST, &error), error, file.path());
  return maps;
}

/// The start token and what follows it greedily, but for the last one, which asks nothing.
std::vector<int32_t> generate_targets(const ModelFile& file, const ThreadPool& pool,
                                      const std::vector<int32_t>& ids) {
  mote_beam_options options = mote_model_beam_options(file.model());
  options.beams = 1;
  options.early_stopping = MOTE_STOP_EARLY;
  options.max_tokens = static_cast<uint32_t>(std::min<uint64_t>(kMostTokens, file.info().context));
  host::SourceSearch search =
      take(host::SourceSearch::make(file.host(), session_choices(file, {}, pool), options));
  std::vector<int32_t> targets = take(search.search(ids, hooks())).front().ids;
  targets.pop_back();
  targets.insert(targets.begin(), file.info().bos_id);
  return targets;
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

/// Says whether an operation of the first program attends to a source.
bool is_cross(const file::Model& model, uint32_t op) {
  const auto* attention = model.programs()->Get(0)->ops()->Get(op)->args_as_Attention();
  return attention != nullptr && model.states()->Get(attention->state())->source() >= 0;
}

json part_of(const std::string& name, const json& rows, const json& columns) {
  return {{"name", name}, {"rows", rows}, {"columns", columns}, {"maps", json::array()}};
}

}  // namespace

json attention_maps(const ModelFile& file, const ThreadPool& pool, const std::string& text) {
  require_tokenizer(file, "its attention cannot be shown over a text");
  const host::TokenList tokens =
      take(host::list_tokens(file.host(), text, std::nullopt, MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL));
  if (tokens.ids.empty() || tokens.ids.size() > kMostTokens)
    convert::fail("the text has {} tokens; maps are of 1 to {}", tokens.ids.size(), kMostTokens);
  if (tokens.ids.size() > file.info().context)
    convert::fail("the text has {} tokens, the model a context of {}", tokens.ids.size(),
                  file.info().context);
  const bool has_targets = has_source(file);
  const std::vector<int32_t> targets =
      has_targets ? generate_targets(file, pool, tokens.ids) : std::vector<int32_t>();
  const Maps maps = compute_maps(file, pool, tokens.ids, targets);
  if (maps.empty()) convert::fail("{} has no attention by scores", file.path());
  const json source = texts_of(file, tokens, text), target = pieces_of(file, targets);
  std::vector<json> parts;
  if (has_targets) {
    parts = {part_of("encoder", source, source), part_of("decoder", target, target),
             part_of("cross", target, source)};
  } else {
    parts = {part_of("text", source, source)};
  }
  const file::Model& model = *file::GetSizePrefixedModel(file.bytes().data());
  for (const auto& [where, heads] : maps) {
    json layer = json::array();
    for (const std::vector<json>& rows : heads) layer.push_back(rows);
    const size_t part = !has_targets || where.first != 0 ? 0 : is_cross(model, where.second) ? 2 : 1;
    parts[part]["maps"].push_back(std::move(layer));
  }
  return {{"parts", parts}};
}

std::string attention_page(const std::string& title, const json& maps) {
  return to_html({title, kAttentionStyle, kAttentionBody, kAttentionScript}, maps);
}

}  // namespace mote::cli
