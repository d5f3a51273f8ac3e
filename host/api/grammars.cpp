// SPDX-License-Identifier: Apache-2.0
//
// mote/host.h: grammars compiled ahead.
#include "host/api/grammar_options.h"
#include "host/api/result.h"

namespace mote::api {
namespace {

host::Status compile_grammar(mote_host* model, const char* json_options, Reply& reply) {
  Options options(json_options);
  const grammar::GrammarRequest request = grammar_options(options);
  options.finish();
  if (request.heal) throw OptionError("option \"heal\": a prompt is healed, not a grammar");
  if (request.empty())
    throw OptionError("no grammar: one of json-schema, any-json, regex, choice, gbnf and trigger is needed");
  const grammar::VocabularyTrie* trie = nullptr;
  if (model != nullptr) {
    MOTE_TRY(model->vocabulary().status());
    trie = &model->trie();
  }
  const std::vector<uint8_t> tables = grammar::compile_request(request, trie, "");
  const grammar::TableSizes sizes = grammar::sizes_of(tables);
  reply.json = {{"bytes", tables.size()},
                {"states", sizes.states},
                {"rules", sizes.rules},
                {"masks", sizes.masks},
                {"depth", sizes.depth}};
  const auto* const begin = reinterpret_cast<const std::byte*>(tables.data());
  reply.bytes.assign(begin, begin + tables.size());
  return {};
}

}  // namespace
}  // namespace mote::api

mote_host_result* mote_host_grammar(mote_host* model, const char* options) {
  return mote::api::respond(
      [&](mote::api::Reply& reply) { return mote::api::compile_grammar(model, options, reply); });
}
