// SPDX-License-Identifier: Apache-2.0
#include "host/grammar/request.h"

#include <cstring>
#include <map>

#include "host/base/error.h"
#include "host/base/mapped_file.h"
#include "host/grammar/expression.h"
#include "host/grammar/gbnf.h"

namespace mote::grammar {
namespace {

NodePtr moved(const NodePtr& node, uint32_t by, std::map<const Node*, NodePtr>& done) {
  NodePtr& known = done[node.get()];
  if (known != nullptr) return known;
  Node copy = *node;
  copy.rule += by;
  for (NodePtr& part : copy.parts) part = moved(part, by, done);
  for (Arrow& arrow : copy.arrows) {
    if (arrow.over != nullptr) arrow.over = moved(arrow.over, by, done);
  }
  return done[node.get()] = std::make_shared<const Node>(std::move(copy));
}

/// Puts the rules of one source behind those of another; returns the number of its start there.
uint32_t append(Source& all, const Source& other) {
  const auto by = static_cast<uint32_t>(all.rules.size());
  std::map<const Node*, NodePtr> done;
  for (const Rule& rule : other.rules) all.rules.push_back({rule.name, moved(rule.body, by, done)});
  return by + other.start;
}

Source grammar_of(const GrammarRequest& request, Allowance& allowance) {
  if (request.json_schema) return json_schema_source(*request.json_schema, request.json, allowance);
  if (request.any_json) return any_json_source(request.json);
  if (request.regex) return expression_source(*request.regex, allowance);
  if (request.gbnf) return gbnf_source(*request.gbnf);
  return choice_source(request.choices);
}

/// Makes free text up to one of some texts the start.
void put_free(Source& all, std::vector<std::string> texts, const std::vector<uint32_t>& rules, bool again) {
  Node free;
  free.kind = Node::Kind::free;
  free.texts = std::move(texts);
  for (const uint32_t number : rules) free.parts.push_back(rule(number));
  free.again = again;
  free.least = again ? 0 : 1;
  all.start = static_cast<uint32_t>(all.rules.size());
  all.rules.push_back({"the free text", std::make_shared<const Node>(std::move(free))});
}

}  // namespace

TableSizes sizes_of(const std::vector<uint8_t>& tables) {
  GrammarHeader header;
  std::memcpy(&header, tables.data(), sizeof header);
  return {header.states - 1, header.rules, header.masks, header.depth};
}

std::string schema_text(const std::string& given) {
  const size_t begin = given.find_first_not_of(" \t\r\n");
  if (begin != std::string::npos &&
      (given[begin] == '{' || given.substr(begin) == "true" || given.substr(begin) == "false"))
    return given;
  const convert::MappedFile file(given);
  return std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
}

std::pair<std::string, std::string> trigger_of(const std::string& given) {
  const size_t end = given.find('=');
  if (end == 0 || end == std::string::npos) convert::fail("a trigger is TEXT=SCHEMA, not \"{}\"", given);
  return {given.substr(0, end), schema_text(given.substr(end + 1))};
}

void check_request(const GrammarRequest& request) {
  const int given = request.json_schema.has_value() + request.regex.has_value() + request.gbnf.has_value() +
                    request.table.has_value() + request.any_json + !request.choices.empty();
  if (given > 1)
    convert::fail("an answer keeps to one of a schema, any JSON, an expression, a choice and a grammar");
  if (!request.after.empty() && given == 0)
    convert::fail("a text that something comes after, and nothing that comes");
  if (request.after_within != 0 && request.after.empty())
    convert::fail("a limit of tokens before a text, and no text");
  if (!request.triggers.empty() && given != 0)
    convert::fail("triggers leave an answer free, which has a grammar of its own here");
  if (request.table && (!request.after.empty() || request.heal))
    convert::fail("tables that are compiled begin at once: a text before them and healing take their source");
}

std::vector<uint8_t> compile_request(const GrammarRequest& request, const VocabularyTrie* vocabulary,
                                     const std::string& healed) {
  check_request(request);
  if (request.table) return std::vector<uint8_t>(request.table->begin(), request.table->end());
  Allowance allowance(request.limits);
  Source all;
  if (request.asks_for_grammar()) {
    all = grammar_of(request, allowance);
    if (!request.after.empty()) put_free(all, {request.after}, {all.start}, false);
  } else {
    std::vector<std::string> texts;
    std::vector<uint32_t> rules;
    for (const auto& [text, schema] : request.triggers) {
      texts.push_back(text);
      rules.push_back(append(all, json_schema_source(schema, request.json, allowance)));
    }
    put_free(all, std::move(texts), rules, true);
  }
  if (!healed.empty()) {
    const NodePtr body = sequence({bytes(healed), rule(all.start)});
    all.start = static_cast<uint32_t>(all.rules.size());
    all.rules.push_back({"the answer", body});
  }
  return compile(all, vocabulary, request.limits);
}

}  // namespace mote::grammar
