// SPDX-License-Identifier: Apache-2.0
//
// mote/host.h: texts generated over texts.
#include "host/api/answers.h"
#include "host/api/guesses.h"
#include "host/api/inputs.h"
#include "host/api/model.h"
#include "host/api/result.h"
#include "host/base/options.h"
#include "host/tasks/text.h"
#include "host/tasks/translation.h"

namespace mote::api {
namespace {

using nlohmann::json;

host::Status generate_over(mote_host& opened, Inputs inputs, const char* json_options, bool summarizes,
                           const mote_host_calls* calls, Reply& reply) {
  const host::Model& model = *opened.model;
  Options options(json_options);
  host::TranslateOptions wanted;
  wanted.summarizes = summarizes;
  if (!summarizes) {
    options.read("from", wanted.from);
    options.read("to", wanted.to);
  }
  options.read("beams", wanted.beams, 1u, 256u);
  options.read("tokens", wanted.tokens, 1u, 1u << 24);
  wanted.speculation = read_speculation(options, false);
  options.finish();
  const bool of_ids = !inputs.empty() && is_ids(inputs[0]);
  if (!of_ids) MOTE_TRY(host::require_tokenizer(model, host::Remedy::give_ids));
  const std::string key =
      std::string(summarizes ? "summarize\n" : "translate\n") + (json_options == nullptr ? "" : json_options);
  const host::Hooks hooks = hooks_of(opened, calls);
  Turn turn(opened, key, hooks);
  MOTE_TAKE(host::Translator* const translator, turn->task<host::Translator>(key, [&] {
    return host::Translator::make(model, opened.choices(turn->platform()), wanted);
  }));
  reply.json = json::array();
  const host::OnToken on_text = on_token_of(calls);
  for (const mote_host_input& input : inputs) {
    std::vector<int32_t> source;
    if (of_ids) {
      source = ids_of(input);
    } else if (const std::string text = text_of(input); !host::is_blank(text)) {
      MOTE_TAKE(source, translator->source_of(text));
    } else {
      reply.json.push_back({{"text", ""}, {"source_ids", json::array()}, {"hypotheses", json::array()}});
      continue;
    }
    MOTE_TAKE(const std::vector<host::SourceHypothesis> found, translator->search(source, hooks));
    json hypotheses = json::array();
    for (const host::SourceHypothesis& one : found) {
      hypotheses.push_back({{"ids", one.ids}, {"score", one.score}});
      if (of_ids) continue;
      MOTE_TAKE(const std::string words, translator->text_of(one.ids));
      if (on_text && hypotheses.size() == 1) on_text(-1, words);
      hypotheses.back()["text"] = words;
    }
    json answer = {{"source_ids", source},
                   {"hypotheses", hypotheses},
                   {"speculation", guesses_json(translator->guesses())}};
    if (!of_ids) answer["text"] = hypotheses[0]["text"];
    reply.json.push_back(std::move(answer));
  }
  return {};
}

}  // namespace
}  // namespace mote::api

using mote::api::Reply;
using mote::api::respond;
using mote::host::Status;

mote_host_result* mote_host_translate(mote_host* model, const mote_host_input* texts, size_t count,
                                      const char* options, const mote_host_calls* calls) {
  return respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    return mote::api::generate_over(*model, mote::api::inputs_of(texts, count, 0), options, false, calls,
                                    reply);
  });
}

mote_host_result* mote_host_summarize(mote_host* model, const mote_host_input* texts, size_t count,
                                      const char* options, const mote_host_calls* calls) {
  return respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    return mote::api::generate_over(*model, mote::api::inputs_of(texts, count, 0), options, true, calls,
                                    reply);
  });
}
