// SPDX-License-Identifier: Apache-2.0
//
// mote/host.h: texts to tokens, vectors, scores and labels.
#include <algorithm>

#include "host/api/inputs.h"
#include "host/api/media.h"
#include "host/api/model.h"
#include "host/api/result.h"
#include "host/base/options.h"
#include "host/tasks/attention.h"
#include "host/tasks/labels.h"
#include "host/tasks/picture_encoder.h"
#include "host/tasks/text.h"
#include "host/tasks/vectors.h"
#include "mote/mote.h"

namespace mote::api {
namespace {

using nlohmann::json;

constexpr size_t kTextsAtOnce = 64;  // that an encoder gets

/// Returns the inputs that an encoder gets at once, from `at` on.
Inputs some_of(Inputs inputs, size_t at) {
  return inputs.subspan(at, std::min(kTextsAtOnce, inputs.size() - at));
}

/// Names a task by its call and its options, which decide it.
std::string key_of(const char* call, const char* options) {
  return std::string(call) + '\n' + (options == nullptr ? "" : options);
}

json tokens_json(const host::TokenList& tokens, const std::string& text,
                 const std::optional<std::string>& pair) {
  const std::vector<uint32_t> first = host::character_counts(text),
                              second = host::character_counts(pair.value_or(""));
  json offsets = json::array(), types = json::array(), texts = json::array();
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    const mote_token_kind kind = tokens.kinds[i];
    const std::vector<uint32_t>& characters = kind.text == 1 ? second : first;
    offsets.push_back({characters[tokens.spans[i].begin], characters[tokens.spans[i].end]});
    types.push_back(kind.type);
    texts.push_back(kind.text == MOTE_NO_TEXT ? json() : json(kind.text));
  }
  return {{"ids", tokens.ids}, {"offsets", offsets}, {"types", types}, {"texts", texts}};
}

host::EmbedOptions embed_options(Options& options) {
  host::EmbedOptions embed;
  options.read("prompt", embed.prompt);
  options.read("prompt-name", embed.prompt_name);
  options.read("truncate", embed.truncate);
  return embed;
}

host::Status embed(mote_host& model, Inputs inputs, const char* json_options, const mote_host_calls* calls,
                   Reply& reply) {
  Options options(json_options);
  const host::EmbedOptions embed = embed_options(options);
  const std::optional<pictures::WantedSides> size = read_picture_size(options);
  options.finish();
  if (host::takes_pictures(*model.model)) return embed_pictures(model, inputs, size, calls, reply);
  require_no_size(size);
  if (model.model->sound().rate != 0) {
    if (embed.prompt || !embed.prompt_name.empty() || embed.truncate)
      return host::failed("{} takes sounds, which have no prompts and are not cut", model.model->name());
    return embed_sounds(model, inputs, calls, reply);
  }
  const host::Hooks hooks = hooks_of(model, calls);
  Turn turn(model, key_of("embed", json_options), hooks);
  MOTE_TAKE(host::Embedder* const embedder, turn->task<host::Embedder>(key_of("embed", json_options), [&] {
    return host::Embedder::make(*model.model, model.choices(turn->platform()), embed);
  }));
  const uint32_t width = embedder->width();
  reply.shape = {inputs.size(), width};
  reply.json = {{"rows", inputs.size()}, {"width", width}};
  reply.values.reserve(inputs.size() * width);
  for (size_t at = 0; at < inputs.size(); at += kTextsAtOnce) {
    const std::vector<std::string> some = texts_of(some_of(inputs, at));
    MOTE_TRY(embedder->embed(some, hooks, [&](size_t, std::span<const float> vector) {
      reply.values.insert(reply.values.end(), vector.begin(), vector.end());
    }));
  }
  return {};
}

/// Scores the inputs behind the first one, by a task that make(choices) makes.
template <class Make>
host::Status rank(mote_host& model, const char* call, Inputs inputs, const char* json_options, uint32_t top,
                  const mote_host_calls* calls, Reply& reply, Make make) {
  const host::Hooks hooks = hooks_of(model, calls);
  const std::string key = key_of(call, json_options);
  Turn turn(model, key, hooks);
  MOTE_TAKE(host::Ranker* const ranker,
            turn->task<host::Ranker>(key, [&] { return make(model.choices(turn->platform())); }));
  reply.json = json::array();
  if (inputs.empty()) return {};
  MOTE_TRY(ranker->ask(text_of(inputs[0]), hooks));
  const Inputs texts = inputs.subspan(1);
  std::vector<std::pair<double, size_t>> scores;
  for (size_t at = 0; at < texts.size(); at += kTextsAtOnce) {
    const std::vector<std::string> some = texts_of(some_of(texts, at));
    MOTE_TRY(ranker->score(some, hooks, [&](size_t i, double score) { scores.emplace_back(score, at + i); }));
  }
  reply.shape = {texts.size()};
  for (const auto& [score, index] : scores) reply.values.push_back(static_cast<float>(score));
  std::stable_sort(scores.begin(), scores.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (top != 0 && scores.size() > top) scores.resize(top);
  for (const auto& [score, index] : scores) reply.json.push_back({{"score", score}, {"index", index}});
  return {};
}

json spans_json(const std::string& text, const std::vector<host::LabelledSpan>& spans) {
  const std::vector<uint32_t> characters = host::character_counts(text);
  json found = json::array();
  for (const host::LabelledSpan& span : spans) {
    json item = {{"start", characters[span.bytes.begin]},
                 {"end", characters[span.bytes.end]},
                 {"text", text.substr(span.bytes.begin, span.bytes.end - span.bytes.begin)},
                 {"probability", span.probability}};
    if (!span.label.empty()) item["label"] = span.label;
    found.push_back(std::move(item));
  }
  return found;
}

json reading_json(mote_model_task task, const std::string& text, const host::TextReading& reading) {
  json labels = json::array(), masks = json::array();
  switch (task) {
    case MOTE_TASK_LABEL_TEXTS:
    case MOTE_TASK_SCORE_PAIRS:
      for (const auto& [name, probability] : reading.labels)
        labels.push_back({{"label", name}, {"probability", probability}});
      return {{"text", text}, {"labels", std::move(labels)}};
    case MOTE_TASK_LABEL_TOKENS:
      return {{"text", text}, {"entities", spans_json(text, reading.spans)}};
    case MOTE_TASK_FIND_ANSWERS:
      return {{"text", text}, {"answers", spans_json(text, reading.spans)}};
    default:
      for (const std::vector<host::Fill>& mask : reading.masks) {
        json fills = json::array();
        for (const auto& [id, token, probability] : mask)
          fills.push_back({{"id", id}, {"token", token}, {"probability", probability}});
        masks.push_back(std::move(fills));
      }
      return {{"text", text}, {"masks", std::move(masks)}};
  }
}

host::Status classify(mote_host& model, Inputs inputs, const char* json_options, const mote_host_calls* calls,
                      Reply& reply) {
  Options options(json_options);
  host::LabelOptions label;
  bool pairs = false;
  options.read("question", label.question);
  options.read("top", label.top, 1);
  options.read("truncate", label.truncate);
  options.read("pairs", pairs);
  const std::optional<pictures::WantedSides> size = read_picture_size(options);
  options.finish();
  if (host::takes_pictures(*model.model))
    return classify_pictures(model, inputs, label.top, size, calls, reply);
  require_no_size(size);
  if (model.model->sound().rate != 0) return classify_sounds(model, inputs, label.top, calls, reply);
  if (pairs && inputs.size() % 2 != 0) throw OptionError("option \"pairs\": the last text has no second one");
  const std::vector<std::string> texts = texts_of(inputs);
  const host::Hooks hooks = hooks_of(model, calls);
  Turn turn(model, key_of("classify", json_options), hooks);
  MOTE_TAKE(host::TextClassifier* const classifier,
            turn->task<host::TextClassifier>(key_of("classify", json_options), [&] {
              return host::TextClassifier::make(*model.model, model.choices(turn->platform()), label);
            }));
  reply.json = json::array();
  const size_t each = pairs ? 2 : 1;
  for (size_t at = 0; at < texts.size();) {
    std::vector<host::EncodedText> read;
    for (; at < texts.size() && read.size() < kTextsAtOnce; at += each) {
      MOTE_TAKE(host::EncodedText one, pairs ? classifier->read_pair(texts[at], texts[at + 1], hooks)
                                             : classifier->read(texts[at], hooks));
      read.push_back(std::move(one));
    }
    MOTE_TRY(classifier->classify(
        read, hooks, [&](const host::EncodedText& text, const host::TextReading& reading) {
          reply.json.push_back(reading_json(classifier->task(), text.text, reading));
        }));
  }
  return {};
}

}  // namespace
}  // namespace mote::api

using mote::api::Inputs;
using mote::api::inputs_of;
using mote::api::Options;
using mote::api::Reply;
using mote::api::respond;
using mote::host::Status;

mote_host_result* mote_host_tokenize(mote_host* model, const mote_host_input* texts, size_t count,
                                     const char* json_options) {
  return respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    const Inputs inputs = inputs_of(texts, count, 1, 2);
    Options options(json_options);
    bool no_special = false, literal = false, offsets = true;
    options.read("no-special", no_special);
    options.read("literal", literal);
    options.read("offsets", offsets);
    options.finish();
    MOTE_TRY(mote::host::require_tokenizer(*model->model, mote::host::Remedy::none));
    const uint32_t flags =
        (no_special ? 0u : uint32_t{MOTE_ADD_SPECIAL}) | (literal ? 0u : uint32_t{MOTE_PARSE_SPECIAL});
    const std::string text = mote::api::text_of(inputs[0]);
    std::optional<std::string> pair;
    if (inputs.size() == 2) pair = mote::api::text_of(inputs[1]);
    MOTE_TAKE(mote::host::TokenList tokens, mote::host::list_tokens(*model->model, text, pair, flags));
    if (offsets) reply.json = mote::api::tokens_json(tokens, text, pair);
    reply.ids = std::move(tokens.ids);
    return {};
  });
}

mote_host_result* mote_host_detokenize(mote_host* model, const int32_t* ids, size_t count,
                                       const char* json_options) {
  return respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    if (ids == nullptr && count != 0) return mote::host::failed("no ids: a null pointer");
    Options options(json_options);
    bool special = false;
    options.read("special", special);
    options.finish();
    MOTE_TRY(mote::host::require_tokenizer(*model->model, mote::host::Remedy::none));
    MOTE_TAKE(const std::string text, mote::host::text_of_ids(*model->model, {ids, count},
                                                              special ? 0u : uint32_t{MOTE_SKIP_SPECIAL}));
    reply.json = {{"text", text}};
    return {};
  });
}

mote_host_result* mote_host_embed(mote_host* model, const mote_host_input* inputs, size_t count,
                                  const char* options, const mote_host_calls* calls) {
  return respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    return mote::api::embed(*model, inputs_of(inputs, count, 0), options, calls, reply);
  });
}

mote_host_result* mote_host_rank(mote_host* model, const mote_host_input* texts, size_t count,
                                 const char* json_options, const mote_host_calls* calls) {
  return respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    const Inputs inputs = inputs_of(texts, count, 0);
    Options options(json_options);
    const mote::host::EmbedOptions embed = mote::api::embed_options(options);
    uint32_t top = 0;
    options.read("top", top);
    options.finish();
    return mote::api::rank(*model, "rank", inputs, json_options, top, calls, reply,
                           [&](const mote::host::SessionChoices& choices) {
                             return mote::host::Ranker::by_vectors(*model->model, choices, embed);
                           });
  });
}

mote_host_result* mote_host_rerank(mote_host* model, const mote_host_input* texts, size_t count,
                                   const char* json_options, const mote_host_calls* calls) {
  return respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    const Inputs inputs = inputs_of(texts, count, 0);
    Options options(json_options);
    bool truncate = false;
    uint32_t top = 0;
    options.read("truncate", truncate);
    options.read("top", top);
    options.finish();
    return mote::api::rank(*model, "rerank", inputs, json_options, top, calls, reply,
                           [&](const mote::host::SessionChoices& choices) {
                             return mote::host::Ranker::by_pairs(*model->model, choices, truncate);
                           });
  });
}

mote_host_result* mote_host_attention(mote_host* model, const mote_host_input* text,
                                      const mote_host_calls* calls) {
  return respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    const std::string words = mote::api::text_of(inputs_of(text, 1, 1)[0]);
    const mote::host::Hooks hooks = mote::api::hooks_of(*model, calls);
    const mote::api::Turn turn(*model, "attention", hooks);
    MOTE_TAKE(const mote::host::AttentionMaps found,
              mote::host::attention_maps(*model->model, model->choices(turn->platform()), words, hooks));
    nlohmann::json maps = nlohmann::json::array();
    for (const mote::host::AttentionMap& map : found.maps) {
      maps.push_back({{"program", map.program},
                      {"op", map.op},
                      {"heads", map.heads},
                      {"rows", map.rows},
                      {"keys", map.keys},
                      {"crosses", map.crosses},
                      {"offset", reply.values.size()}});
      reply.values.insert(reply.values.end(), map.probabilities.begin(), map.probabilities.end());
    }
    reply.shape = {reply.values.size()};
    reply.json = {{"tokens", found.tokens.ids}, {"answer_ids", found.answer}, {"maps", std::move(maps)}};
    return {};
  });
}

mote_host_result* mote_host_classify(mote_host* model, const mote_host_input* inputs, size_t count,
                                     const char* options, const mote_host_calls* calls) {
  return respond([&](Reply& reply) -> Status {
    MOTE_TRY(mote::api::require(model));
    return mote::api::classify(*model, inputs_of(inputs, count, 0), options, calls, reply);
  });
}
