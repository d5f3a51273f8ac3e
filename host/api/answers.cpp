// SPDX-License-Identifier: Apache-2.0
//
// mote/host.h: answers to one prompt.
#include "host/api/answers.h"

#include "host/api/result.h"
#include "host/chat/model_template.h"
#include "host/tasks/steps.h"
#include "host/tasks/text.h"
#include "mote/mote.h"

namespace mote::api {
namespace {

constexpr uint32_t kTokens = 128;  // of an answer, at most, by default

/// A session that answers one prompt after the other.
struct Generator {
  mote_session_options options;
  host::Session session;
  size_t memory_bytes() const { return session.arena_bytes(); }
};

host::Result<Generator> make_generator(const mote_host& model, const mote_platform& platform) {
  Generator generator{host::session_options(*model.model, model.choices(platform)), {}};
  MOTE_TAKE(generator.session, host::Session::begin(*model.model, generator.options));
  return generator;
}

struct Wanted {
  host::GenerationOptions generation;
  std::optional<std::string> system;
  std::string context_full = "stop";
  bool chat = false, messages = false;
  nlohmann::json variables = {};
};

Wanted read_wanted(const char* json_options) {
  Options options(json_options);
  Wanted wanted;
  wanted.generation = generation_options(options, kTokens);
  options.read("system", wanted.system);
  options.read("chat", wanted.chat);
  options.read("messages", wanted.messages);
  wanted.variables = template_options(options);
  options.read_word("context-full", wanted.context_full, {"stop", "slide"});
  options.finish();
  if (wanted.system && !wanted.chat) throw OptionError("option \"system\": only with \"chat\"");
  if (wanted.chat && wanted.messages)
    throw OptionError("options \"chat\" and \"messages\" exclude each other");
  if (!wanted.variables.empty() && !wanted.chat && !wanted.messages)
    throw OptionError("option \"set\": only with \"chat\" or \"messages\"");
  return wanted;
}

host::Result<std::vector<int32_t>> prompt_ids(const host::Model& model, const host::Session& session,
                                              const std::string& text, const Wanted& wanted,
                                              size_t pictures) {
  const auto variables = template_variables(wanted.variables);
  if (wanted.messages)
    return convert::tokenize_messages(model, session, convert::read_conversation(text, "the messages"),
                                      variables);
  if (wanted.chat) {
    MOTE_TAKE(const host::ChatTokenizer tokenize, convert::chat_tokenizer(model, session, variables));
    std::vector<host::ChatMessage> messages;
    if (wanted.system) messages.push_back({MOTE_ROLE_SYSTEM, *wanted.system, 0});
    messages.push_back({MOTE_ROLE_USER, text, pictures});
    return tokenize(messages);
  }
  MOTE_TAKE(std::vector<int32_t> ids,
            host::tokenize(model, session, text, MOTE_PARSE_SPECIAL | MOTE_ADD_SPECIAL));
  if (ids.empty() && model.info().bos_id < 0)
    return host::failed("the prompt is empty; give at least one word");
  if (ids.empty()) ids.push_back(model.info().bos_id);
  return ids;
}

host::Status generate(mote_host& opened, Inputs inputs, const char* json_options,
                      const mote_host_calls* calls, Reply& reply) {
  const host::Model& model = *opened.model;
  const Wanted wanted = read_wanted(json_options);
  if (inputs.size() > 1 && !wanted.chat)
    throw OptionError("pictures stand before a message: option \"chat\"");
  if (model.encodes() || model.has_source()) return host::failed("{} continues no text", model.name());
  MOTE_TRY(host::require_tokenizer(model, host::Remedy::none));
  const host::GenerationPlan plan =
      host::plan_generation(model, wanted.generation, wanted.chat || wanted.messages);
  const host::Hooks hooks = hooks_of(opened, calls);
  if (!plan.defaults.empty()) hooks.say("as the model's authors say: {}", plan.defaults);
  Turn turn(opened, "generate", hooks);
  MOTE_TAKE(Generator* const generator,
            turn->task<Generator>("generate", [&] { return make_generator(opened, turn->platform()); }));
  host::Session& session = generator->session;
  mote_error error = {};
  MOTE_TRY(host::from_core(mote_session_truncate(session.get(), 0, 0, &error), error, model.name()));
  MOTE_TAKE(const auto seen, see_pictures(opened, turn->platform(), inputs.subspan(1), hooks));
  MOTE_TAKE(std::vector<int32_t> prompt,
            prompt_ids(model, session, text_of(inputs[0]), wanted, inputs.size() - 1));
  std::vector<const host::SeenPicture*> pictures;
  for (const auto& picture : seen) pictures.push_back(picture.get());
  std::optional<host::PicturePrompt> picture_prompt;
  if (!pictures.empty()) {
    MOTE_TAKE(picture_prompt, host::PicturePrompt::make(model, opened.tower->model.output().width));
    MOTE_TAKE(prompt, picture_prompt->expand(session, prompt, pictures));
  }
  if (prompt.size() > generator->options.context) {
    return {MOTE_CONTEXT_FULL,
            host::sentence("{} tokens of the prompt exceed the context of {}", prompt.size(),
                           generator->options.context),
            host::Remedy::less_context};
  }
  host::Timer timer;
  if (picture_prompt) {
    MOTE_TRY(picture_prompt->prefill(session, generator->options.chunk, prompt, pictures, hooks));
  }
  const double pictures_ms = picture_prompt ? timer.ms() : 0;
  const host::OnToken on_token = on_token_of(calls);
  const std::span<const int32_t> left =
      picture_prompt ? std::span<const int32_t>() : std::span<const int32_t>(prompt);
  MOTE_TAKE(host::Answer answer, host::generate(model, session, left, plan, hooks, on_token));
  answer.prompt_ms += pictures_ms;
  if (wanted.context_full == "slide") {
    MOTE_TRY(host::generate_sliding(model, session, generator->options.context, prompt, plan, hooks, on_token,
                                    answer));
  }
  reply.json = answer_json(answer, prompt.size());
  reply.json["prompt_ids"] = prompt;
  return {};
}

}  // namespace

host::GenerationOptions generation_options(Options& options, uint32_t tokens) {
  host::GenerationOptions generation;
  generation.tokens = tokens;
  options.read("tokens", generation.tokens);
  options.read("greedy", generation.greedy);
  options.read("temp", generation.temperature, 0.0f, 1000.0f);
  options.read("top-k", generation.top_k);
  options.read("top-p", generation.top_p, 1e-9f, 1.0f);
  options.read("min-p", generation.min_p, 0.0f, 1.0f);
  options.read("seed", generation.seed);
  options.read("repeat-penalty", generation.repetition_penalty, 0.01f, 100.0f);
  options.read("stop", generation.stop_texts);
  options.read("ignore-stop", generation.ignore_stop);
  if (generation.greedy && generation.temperature)
    throw OptionError("options \"greedy\" and \"temp\" exclude each other");
  return generation;
}

host::Result<std::vector<std::shared_ptr<const host::SeenPicture>>> see_pictures(
    const mote_host& model, const mote_platform& platform, Inputs pictures, const host::Hooks& hooks) {
  std::vector<std::shared_ptr<const host::SeenPicture>> seen;
  if (pictures.empty()) return seen;
  if (model.tower == nullptr)
    return host::failed("{} was opened without a vision tower, which pictures take", model.model->name());
  const host::Model& tower = model.tower->model;
  mote_picture_info info;
  mote_error error = {};
  MOTE_TRY(host::from_core(mote_model_get_picture(tower.get(), &info, &error), error, tower.name()));
  host::SessionChoices choices;
  choices.platform = platform;
  for (const mote_host_input& input : pictures) {
    const Picture picture(input);
    MOTE_TAKE(host::SeenPicture one,
              host::see_picture(tower, choices, pictures::picture_parts(picture.rows(hooks), info), hooks,
                                picture.name()));
    seen.push_back(std::make_shared<const host::SeenPicture>(std::move(one)));
  }
  return seen;
}

nlohmann::json template_options(Options& options) {
  nlohmann::json variables = nlohmann::json::object();
  options.read("set", variables);
  if (!variables.is_object()) throw OptionError("option \"set\": expected an object of variables");
  return variables;
}

std::vector<std::pair<std::string, nlohmann::ordered_json>> template_variables(const nlohmann::json& given) {
  std::vector<std::pair<std::string, nlohmann::ordered_json>> variables;
  for (const auto& [name, value] : given.items())
    variables.emplace_back(name, convert::parse_ordered_json(value.dump(), name));
  return variables;
}

host::OnToken on_token_of(const mote_host_calls* calls) {
  if (calls == nullptr || calls->text == nullptr) return {};
  return [heard = *calls](int32_t id, const std::string& text) {
    heard.text(heard.user, text.data(), text.size(), id);
  };
}

nlohmann::json answer_json(const host::Answer& answer, size_t prompt_tokens) {
  return {{"text", answer.text},
          {"output_ids", answer.ids},
          {"finish", host::finish_name(answer.finish)},
          {"prompt_tokens", prompt_tokens},
          {"prompt_ms", answer.prompt_ms},
          {"decode_ms", answer.decode_ms},
          {"prompt_tokens_per_s", answer.prompt_per_s(prompt_tokens)},
          {"decode_tokens_per_s", answer.decode_per_s()}};
}

}  // namespace mote::api

mote_host_result* mote_host_generate(mote_host* model, const mote_host_input* inputs, size_t count,
                                     const char* options, const mote_host_calls* calls) {
  return mote::api::respond([&](mote::api::Reply& reply) -> mote::host::Status {
    MOTE_TRY(mote::api::require(model));
    return mote::api::generate(*model, mote::api::inputs_of(inputs, count, 1), options, calls, reply);
  });
}
