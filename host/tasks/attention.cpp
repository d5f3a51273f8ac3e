// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/attention.h"

#include <algorithm>
#include <utility>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/source_search.h"
#include "mote/attention.h"
#include "mote/beams.h"

namespace mote::host {
namespace {

void no_trace(void*, const char*, const float*, uint32_t, uint32_t, size_t) {}

/// A row of a head as it comes: rows of one operation have ever more keys.
struct TakenRow {
  uint32_t program, op, head, heads, keys;
  bool crosses;
  std::vector<float> probabilities;
};

void take_row(void* user, const mote_attention_row* row) {
  static_cast<std::vector<TakenRow>*>(user)->push_back(
      {row->program,
       row->op,
       row->head,
       row->heads,
       row->keys,
       row->crosses != 0,
       {row->probabilities, row->probabilities + row->keys}});
}

/// Puts the rows of each operation together, in the order of the operations.
std::vector<AttentionMap> maps_of(std::vector<TakenRow>& taken) {
  std::stable_sort(taken.begin(), taken.end(), [](const TakenRow& a, const TakenRow& b) {
    return std::pair(a.program, a.op) < std::pair(b.program, b.op);
  });
  std::vector<AttentionMap> maps;
  for (auto first = taken.begin(), last = first; first != taken.end(); first = last) {
    AttentionMap map{first->program, first->op, first->heads, 0, 0, first->crosses, {}, {}};
    for (; last != taken.end() && last->program == map.program && last->op == map.op; ++last) {
      map.rows += last->head == 0;
      map.keys = std::max(map.keys, last->keys);
    }
    map.probabilities.resize(size_t{map.heads} * map.rows * map.keys);
    map.row_keys.resize(size_t{map.heads} * map.rows);
    std::vector<uint32_t> next(map.heads);
    for (auto row = first; row != last; ++row) {
      const size_t at = size_t{row->head} * map.rows + next[row->head]++;
      map.row_keys[at] = row->keys;
      std::copy(row->probabilities.begin(), row->probabilities.end(),
                map.probabilities.begin() + static_cast<std::ptrdiff_t>(at * map.keys));
    }
    maps.push_back(std::move(map));
  }
  return maps;
}

Status encode_ids(const Model& model, Session& session, std::span<const int32_t> ids, const Hooks& hooks) {
  const auto count = static_cast<uint32_t>(ids.size());
  const uint32_t first = 0;
  mote_batch batch{};
  batch.ids = ids.data();
  batch.lengths = &count;
  batch.count = 1;
  if (model.encodes() && model.output().of_sequences == 0) batch.rows = &first, batch.row_count = 1;
  return encode(session, batch, hooks, model.name());
}

/// Returns the start token and what follows it greedily, but for the last token, which asks nothing.
Result<std::vector<int32_t>> answer_over(const Model& model, const SessionChoices& choices,
                                         std::span<const int32_t> ids, const Hooks& hooks) {
  mote_beam_options options = mote_model_beam_options(model.get());
  options.beams = 1;
  options.early_stopping = MOTE_STOP_EARLY;
  options.max_tokens = std::min(kMostMapTokens, model.info().context);
  MOTE_TAKE(SourceSearch search, SourceSearch::make(model, choices, options));
  MOTE_TAKE(const std::vector<SourceHypothesis> found, search.search(ids, hooks));
  std::vector<int32_t> answer = found.front().ids;
  answer.pop_back();
  answer.insert(answer.begin(), model.info().bos_id);
  return answer;
}

Status watch(const Model& model, const SessionChoices& choices, AttentionMaps& found, const Hooks& hooks) {
  SessionChoices own;
  own.platform = choices.platform;
  own.decode_threads = choices.decode_threads;
  own.kv = MOTE_KV_F32;
  mote_session_options options = session_options(model, own);
  const std::vector<int32_t>& ids = found.tokens.ids;
  const std::vector<int32_t>& rows = found.answer.empty() ? ids : found.answer;
  options.isa = MOTE_ISA_REF;
  options.chunk = static_cast<uint32_t>(std::max(ids.size(), found.answer.size()));
  options.context = static_cast<uint32_t>(rows.size());
  options.logit_rows = options.batch = 1;
  options.trace = no_trace;
  MOTE_TAKE(Session session, Session::begin(model, options));
  std::vector<float> room(mote_attention_room(session.get()));
  std::vector<TakenRow> taken;
  mote_error error = {};
  MOTE_TRY(from_core(mote_session_watch_attention(session.get(), take_row, &taken, room.data(),
                                                  static_cast<uint32_t>(room.size()), &error),
                     error, model.name()));
  if (model.encodes() || !found.answer.empty()) MOTE_TRY(encode_ids(model, session, ids, hooks));
  if (!model.encodes()) MOTE_TRY(prefill(session, rows, hooks, model.name()));
  found.maps = maps_of(taken);
  return {};
}

}  // namespace

Result<AttentionMaps> attention_maps(const Model& model, const SessionChoices& choices, std::string_view text,
                                     const Hooks& hooks) {
  MOTE_TRY(require_tokenizer(model, Remedy::none));
  AttentionMaps found;
  MOTE_TAKE(found.tokens, list_tokens(model, text, std::nullopt, MOTE_ADD_SPECIAL | MOTE_PARSE_SPECIAL));
  const size_t count = found.tokens.ids.size();
  if (count == 0 || count > kMostMapTokens)
    return failed("the text has {} tokens; maps are of 1 to {}", count, kMostMapTokens);
  if (count > model.info().context)
    return failed("the text has {} tokens, the model a context of {}", count, model.info().context);
  if (model.has_source()) {
    MOTE_TAKE(found.answer, answer_over(model, choices, found.tokens.ids, hooks));
  }
  MOTE_TRY(watch(model, choices, found, hooks));
  if (found.maps.empty()) return failed("{} has no attention by scores", model.name());
  return found;
}

}  // namespace mote::host
