// SPDX-License-Identifier: Apache-2.0
#include "host/api/grammar_options.h"

#include "host/base/mapped_file.h"
#include "host/grammar/vocabulary.h"
#include "mote/text.h"

namespace mote::api {
namespace {

std::optional<std::string> file_text(Options& options, const char* key) {
  std::optional<std::string> path;
  options.read(key, path);
  if (!path) return std::nullopt;
  const convert::MappedFile file(*path);
  return std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
}

/// Reads a schema: an object, or a text that schema_text takes.
std::optional<std::string> schema_option(Options& options, const char* key) {
  nlohmann::ordered_json given;
  options.read(key, given);
  if (given.is_null()) return std::nullopt;
  return given.is_string() ? grammar::schema_text(given.get<std::string>()) : given.dump();
}

host::Result<std::shared_ptr<const host::VocabularyTables>> make_vocabulary(const host::Model& model) {
  if (!model.has_tokenizer())
    return host::failed("{} has no tokenizer, so its answers keep to no grammar", model.name());
  auto stored = host::VocabularyTables::of_file(model);
  if (stored.ok() || stored.status().code() != MOTE_UNSUPPORTED_FILE) return stored;
  return host::VocabularyTables::of_bytes(model, grammar::vocabulary_tables(model.get()));
}

}  // namespace

grammar::GrammarRequest grammar_options(Options& options) {
  grammar::GrammarRequest request;
  request.json_schema = schema_option(options, "json-schema");
  options.read("any-json", request.any_json);
  options.read("regex", request.regex);
  options.read("choice", request.choices);
  request.gbnf = file_text(options, "gbnf");
  request.table = file_text(options, "grammar");
  std::string whitespace = "one";
  options.read_word("whitespace", whitespace, {"none", "one", "lines"});
  request.json.whitespace = whitespace == "none"  ? grammar::Whitespace::none
                            : whitespace == "one" ? grammar::Whitespace::one
                                                  : grammar::Whitespace::lines;
  options.read("digits", request.json.digits, 1, 100);
  options.read("after", request.after);
  options.read("after-within", request.after_within);
  std::vector<std::string> triggers;
  options.read("trigger", triggers);
  for (const std::string& trigger : triggers) request.triggers.push_back(grammar::trigger_of(trigger));
  options.read("heal", request.heal);
  options.read("grammar-depth", request.limits.depth, 1, grammar::kMostGrammarDepth);
  options.read("grammar-states", request.limits.states, 1, grammar::kMostGrammarStates);
  options.read("grammar-bytes", request.limits.bytes);
  float seconds = static_cast<float>(request.limits.seconds);
  options.read("grammar-seconds", seconds, 0.001f, 3600.0f);
  request.limits.seconds = static_cast<double>(seconds);
  grammar::check_request(request);
  return request;
}

host::Result<host::GrammarPlan> plan_grammar(mote_host& model, const grammar::GrammarRequest& request,
                                             const std::string& healed) {
  host::GrammarPlan plan;
  if (!request.asks_for_grammar() && request.triggers.empty() && healed.empty()) return plan;
  MOTE_TAKE(const auto vocabulary, model.vocabulary());
  const std::vector<uint8_t> tables = grammar::compile_request(request, &model.trie(), healed);
  MOTE_TAKE(plan.tables, host::GrammarTables::open(vocabulary, tables, "the grammar"));
  plan.free_tokens = request.after_within;
  plan.healed = healed;
  return plan;
}

host::Result<std::string> heal(mote_host& model, std::vector<int32_t>& prompt) {
  if (prompt.size() < 2) return std::string();
  MOTE_TRY(model.vocabulary().status());
  const grammar::VocabularyTrie& trie = model.trie();
  const auto id = static_cast<uint32_t>(prompt.back());
  const uint32_t place = id < trie.header->vocab ? trie.places[id] : kNoPlace;
  if (place == kNoPlace || (place & kSpecialPlace) != 0 || trie.steps[place].size == 1) return std::string();
  prompt.pop_back();
  return model.model->token_text(static_cast<int32_t>(id));
}

}  // namespace mote::api

mote::host::Result<std::shared_ptr<const mote::host::VocabularyTables>> mote_host::vocabulary() {
  const std::lock_guard lock(opens_vocabulary_);
  if (vocabulary_ == nullptr) {
    MOTE_TAKE(vocabulary_, mote::api::make_vocabulary(*model));
    trie_.emplace(vocabulary_->get().tables);
  }
  return vocabulary_;
}
