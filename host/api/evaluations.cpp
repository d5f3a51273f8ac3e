// SPDX-License-Identifier: Apache-2.0
//
// mote/host.h: how well models do.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "host/api/grammar_options.h"
#include "host/api/inputs.h"
#include "host/api/model.h"
#include "host/api/result.h"
#include "host/base/error.h"
#include "host/base/options.h"
#include "host/tasks/evaluation.h"
#include "host/tasks/labels.h"
#include "host/tasks/text.h"
#include "mote/mote.h"

namespace mote::api {
namespace {

using nlohmann::json;

constexpr uint32_t kWindow = 512;  // of a perplexity, by default

struct Evaluated {
  bool perplexity = false, exact = false, accuracy = false, spearman = false, truncate = false;
  uint32_t window = 0;
  uint64_t limit = 0;
  grammar::GrammarRequest grammar;
};

Evaluated read_evaluated(const char* json_options) {
  Options options(json_options);
  Evaluated wanted;
  options.read("perplexity", wanted.perplexity);
  options.read("exact", wanted.exact);
  options.read("accuracy", wanted.accuracy);
  options.read("spearman", wanted.spearman);
  options.read("window", wanted.window, 2);
  options.read("limit", wanted.limit);
  options.read("truncate", wanted.truncate);
  wanted.grammar = grammar_options(options);
  options.finish();
  if (wanted.perplexity + wanted.exact + wanted.accuracy + wanted.spearman != 1)
    throw OptionError(
        "one of the options \"perplexity\", \"exact\", \"accuracy\" and \"spearman\" is needed");
  if (!wanted.grammar.empty() && !wanted.exact)
    throw OptionError("a grammar is for answers: option \"exact\"");
  if (wanted.grammar.heal) throw OptionError("option \"heal\": a question is read as it is");
  return wanted;
}

// ---- Tables ----

/// Calls use(line) for each line of a text without its end; use returns false to end.
template <class Use>
void each_line(const std::string& text, Use use) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (!use(text.substr(at, end - at))) return;
    at = end + 1;
  }
}

std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> columns(1);
  for (const char c : line) {
    if (c == '\t') {
      columns.emplace_back();
    } else {
      columns.back() += c;
    }
  }
  return columns;
}

template <class Number>
std::optional<Number> parse(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

using Columns = std::vector<std::vector<std::string>>;

/// Returns lines of so many columns, by column; the first is left out if `is_header` says so.
template <class IsHeader>
Columns read_table(const std::string& text, const std::string& name, size_t columns, uint64_t limit,
                   IsHeader is_header) {
  Columns table(columns);
  uint64_t number = 0;
  each_line(text, [&](std::string line) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) return true;
    ++number;
    std::vector<std::string> row = columns_of(line);
    if (row.size() != columns) {
      convert::fail("{}: line {} has {} columns, expected {} with tabs between", name, number, row.size(),
                    columns);
    }
    if ((number == 1 && is_header(row)) || (limit != 0 && table[0].size() == limit)) return true;
    for (size_t i = 0; i < columns; ++i) table[i].push_back(std::move(row[i]));
    return true;
  });
  if (table[0].empty()) convert::fail("{}: no lines to score", name);
  return table;
}

std::vector<host::Question> read_questions(const std::string& text, const std::string& name, uint64_t limit) {
  std::vector<host::Question> questions;
  uint64_t number = 0;
  each_line(text, [&](const std::string& line) {
    if (limit != 0 && questions.size() == limit) return false;
    ++number;
    if (host::trimmed(line).empty()) return true;
    const size_t tab = line.find('\t');
    if (tab == std::string::npos)
      convert::fail("{}: line {} has no tab between question and answer", name, number);
    questions.push_back({line.substr(0, tab), host::trimmed(line.substr(tab + 1))});
    return true;
  });
  if (questions.empty())
    convert::fail("{}: no questions; each line is a question, a tab and the answer", name);
  return questions;
}

// ---- Measures ----

host::Result<std::vector<int32_t>> predicted_ids(const host::Predictor& predictor,
                                                 const mote_host_input& input, uint64_t limit) {
  const host::Model& model = predictor.model();
  const std::string name = name_of(input, is_ids(input) ? "the ids" : "the text");
  std::vector<int32_t> ids;
  if (is_ids(input)) {
    ids = ids_of(input);
  } else {
    MOTE_TRY(host::require_tokenizer(model, host::Remedy::give_ids));
    MOTE_TAKE(ids, host::tokenize(model, predictor.session(), text_of(input), 0));
  }
  if (limit != 0 && ids.size() > limit) ids.resize(static_cast<size_t>(limit));
  if (ids.size() < 2) return host::failed("{}: {} tokens; it takes at least 2", name, ids.size());
  MOTE_TRY(host::check_ids(model, ids, name));
  return ids;
}

host::Status predict(mote_host& opened, const mote_host* other, const mote_host_input& input,
                     const Evaluated& wanted, const host::Hooks& hooks, Reply& reply) {
  const host::Model& model = *opened.model;
  const uint32_t window = wanted.window != 0 ? wanted.window : std::min(kWindow, model.info().context);
  const Turn turn(opened, "evaluate", hooks);
  MOTE_TAKE(host::Predictor predictor,
            host::Predictor::make(model, opened.choices(turn->platform()), window));
  MOTE_TAKE(const std::vector<int32_t> ids, predicted_ids(predictor, input, wanted.limit));
  std::optional<host::Predictor> compared;
  if (other != nullptr) {
    const host::Model& second = *other->model;
    MOTE_TAKE(compared, host::Predictor::make(second, other->choices(turn->platform()), window));
    if (second.info().vocab != model.info().vocab) {
      return host::failed("{} has a vocabulary of {} and {} one of {}; they cannot be compared", model.name(),
                          model.info().vocab, second.name(), second.info().vocab);
    }
  }
  MOTE_TAKE(const host::PredictionScore score,
            host::score_prediction(ids, window, predictor, compared ? &*compared : nullptr, hooks));
  reply.json = {
      {"perplexity", std::exp(score.mean(score.nll))}, {"tokens", score.tokens}, {"window", window}};
  if (!compared) return {};
  reply.json["other_perplexity"] = std::exp(score.mean(score.other_nll));
  reply.json["mean_kl"] = score.mean(score.kl);
  reply.json["top1_agreement"] = score.mean(static_cast<double>(score.same_top));
  return {};
}

host::Status answer_questions(mote_host& opened, const mote_host_input& input, const Evaluated& wanted,
                              const host::Hooks& hooks, Reply& reply) {
  const host::Model& model = *opened.model;
  const Turn turn(opened, "evaluate", hooks);
  MOTE_TAKE(host::Session session,
            host::Session::begin(model, host::session_options(model, opened.choices(turn->platform()))));
  MOTE_TRY(host::require_tokenizer(model, host::Remedy::none));
  const std::vector<host::Question> questions =
      read_questions(text_of(input), name_of(input, "the questions"), wanted.limit);
  MOTE_TAKE(const host::GrammarPlan grammar, plan_grammar(opened, wanted.grammar));
  MOTE_TAKE(const uint64_t equal, host::count_exact(model, session, questions, grammar, hooks));
  reply.json = {{"accuracy", static_cast<double>(equal) / static_cast<double>(questions.size())},
                {"equal", equal},
                {"questions", questions.size()}};
  return {};
}

host::Status label_texts(const host::Model& model, host::TextEncoder& encoder, const mote_host_input& input,
                         const Evaluated& wanted, const host::Hooks& hooks, Reply& reply) {
  const mote_output_info& output = encoder.output();
  if (!host::labels_whole_texts(model.task())) return host::failed("{} labels no texts", model.name());
  if (output.labels < 2)
    return host::failed("{} has a single label: there is nothing to choose", model.name());
  const std::string name = name_of(input, "the texts");
  const auto label_of = [&](const std::string& label) -> uint32_t {
    for (uint32_t i = 0; i < output.labels; ++i) {
      if (label == model.label(i)) return i;
    }
    const auto index = parse<uint32_t>(label);
    if (!index || *index >= output.labels)
      convert::fail("{}: \"{}\" is no label of {}", name, host::one_line(label), model.name());
    return *index;
  };
  const Columns table =
      read_table(text_of(input), name, 2, wanted.limit, [&](const auto& row) { return row[1] == "label"; });
  std::vector<uint32_t> labels;
  for (const std::string& label : table[1]) labels.push_back(label_of(label));
  MOTE_TAKE(const host::LabelScore score, host::score_labels(encoder, table[0], labels, hooks));
  reply.json = {{"accuracy", score.accuracy()},
                {"right", score.right},
                {"lines", score.lines},
                {"f1", score.f1},
                {"macro_f1", score.macro_f1}};
  return {};
}

host::Status compare_pairs(const host::Model& model, host::TextEncoder& encoder, const mote_host_input& input,
                           const Evaluated& wanted, const host::Hooks& hooks, Reply& reply) {
  if (model.task() != MOTE_TASK_EMBED_TEXTS)
    return host::failed(host::Remedy::vectors, "{} gives no vectors of texts", model.name());
  const std::string name = name_of(input, "the pairs");
  const Columns table = read_table(text_of(input), name, 3, wanted.limit,
                                   [](const auto& row) { return !parse<double>(row[2]); });
  std::vector<double> scores;
  for (const std::string& given : table[2]) {
    const auto score = parse<double>(given);
    if (!score) convert::fail("{}: \"{}\" is no score", name, host::one_line(given));
    scores.push_back(*score);
  }
  MOTE_TAKE(const double spearman, host::score_pairs(encoder, table[0], table[1], scores, hooks));
  reply.json = {{"spearman", spearman}, {"lines", scores.size()}};
  return {};
}

host::Status evaluate(mote_host& opened, const mote_host* other, const mote_host_input& input,
                      const char* json_options, const mote_host_calls* calls, Reply& reply) {
  const Evaluated wanted = read_evaluated(json_options);
  if (other != nullptr && !wanted.perplexity)
    throw OptionError("another model is compared by option \"perplexity\" alone");
  const host::Hooks hooks = hooks_of(opened, calls);
  if (wanted.perplexity) return predict(opened, other, input, wanted, hooks, reply);
  if (wanted.exact) return answer_questions(opened, input, wanted, hooks, reply);
  const Turn turn(opened, "evaluate", hooks);
  MOTE_TAKE(host::TextEncoder encoder,
            host::TextEncoder::make(*opened.model, opened.choices(turn->platform()), {wanted.truncate, 0}));
  return wanted.accuracy ? label_texts(*opened.model, encoder, input, wanted, hooks, reply)
                         : compare_pairs(*opened.model, encoder, input, wanted, hooks, reply);
}

}  // namespace
}  // namespace mote::api

mote_host_result* mote_host_evaluate(mote_host* model, mote_host* other, const mote_host_input* input,
                                     const char* options, const mote_host_calls* calls) {
  return mote::api::respond([&](mote::api::Reply& reply) -> mote::host::Status {
    MOTE_TRY(mote::api::require(model));
    return mote::api::evaluate(*model, other, mote::api::inputs_of(input, 1, 1)[0], options, calls, reply);
  });
}
