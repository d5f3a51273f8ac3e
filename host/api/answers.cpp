// SPDX-License-Identifier: Apache-2.0
//
// mote/host.h: answers to one prompt.
#include "host/api/answers.h"

#include "host/api/grammar_options.h"
#include "host/api/guesses.h"
#include "host/api/result.h"
#include "host/base/mapped_file.h"
#include "host/base/output_file.h"
#include "host/chat/model_template.h"
#include "host/tasks/bounded_steps.h"
#include "host/tasks/text.h"
#include "mote/mote.h"

namespace mote::api {
namespace {

constexpr uint32_t kTokens = 128;  // of an answer, at most, by default

/// A session that answers one prompt after the other.
struct Generator {
  mote_session_options options;
  host::Session session;
  double load_ms;  // that it took to make
  std::optional<host::Draft> draft;
  size_t memory_bytes() const { return session.arena_bytes() + (draft ? draft->arena_bytes() : 0); }
};

host::Result<Generator> make_generator(const mote_host& model, const mote_platform& platform,
                                       const host::SpeculationOptions& speculation) {
  const host::Timer timer;
  host::SessionChoices choices = model.choices(platform);
  choices.logit_rows = speculation.logit_rows();
  Generator generator{host::session_options(*model.model, choices), {}, 0, {}};
  MOTE_TAKE(generator.session, host::Session::begin(*model.model, generator.options));
  MOTE_TAKE(generator.draft,
            begin_draft(model, platform, speculation, generator.session, generator.options.context));
  generator.load_ms = timer.ms();
  return generator;
}

struct Wanted {
  host::GenerationOptions generation;
  grammar::GrammarRequest grammar;
  std::optional<std::string> system;
  std::string context_full = "stop", save_state, load_state;
  bool chat = false, messages = false;
  Variables variables;
};

Wanted read_wanted(const char* json_options) {
  Options options(json_options);
  Wanted wanted;
  wanted.generation = generation_options(options, kTokens);
  wanted.grammar = grammar_options(options);
  options.read("system", wanted.system);
  options.read("chat", wanted.chat);
  options.read("messages", wanted.messages);
  wanted.variables = template_options(options);
  options.read_word("context-full", wanted.context_full, {"stop", "slide"});
  options.read("save-state", wanted.save_state);
  options.read("load-state", wanted.load_state);
  options.finish();
  if (wanted.system && !wanted.chat) throw OptionError("option \"system\": only with \"chat\"");
  if (wanted.chat && wanted.messages)
    throw OptionError("options \"chat\" and \"messages\" exclude each other");
  if (!wanted.variables.empty() && !wanted.chat && !wanted.messages)
    throw OptionError("option \"set\": only with \"chat\" or \"messages\"");
  return wanted;
}

/// Returns the ids of a text; one that continues a saved prompt gets no tokens around it.
host::Result<std::vector<int32_t>> plain_ids(const host::Model& model, const host::Session& session,
                                             const std::string& text, bool continues) {
  MOTE_TAKE(std::vector<int32_t> ids,
            host::tokenize(model, session, text,
                           MOTE_PARSE_SPECIAL | (continues ? 0u : uint32_t{MOTE_ADD_SPECIAL})));
  if (!ids.empty() || continues) return ids;
  if (model.info().bos_id < 0) return host::failed("the prompt is empty; give at least one word");
  return std::vector<int32_t>{model.info().bos_id};
}

host::Result<std::vector<int32_t>> prompt_ids(const host::Model& model, const host::Session& session,
                                              const mote_host_input& input, const Wanted& wanted,
                                              size_t pictures) {
  if (is_ids(input)) {
    std::vector<int32_t> ids = ids_of(input);
    MOTE_TRY(host::check_ids(model, ids, name_of(input, "ids")));
    return ids;
  }
  MOTE_TRY(host::require_tokenizer(model, host::Remedy::give_ids));
  const std::string text = text_of(input);
  if (wanted.messages)
    return convert::tokenize_messages(
        model, session, convert::read_conversation(text, name_of(input, "the messages")), wanted.variables);
  if (!wanted.chat) return plain_ids(model, session, text, !wanted.load_state.empty());
  MOTE_TAKE(const host::ChatTokenizer tokenize, convert::chat_tokenizer(model, session, wanted.variables));
  std::vector<host::ChatMessage> messages;
  if (wanted.system) messages.push_back({MOTE_ROLE_SYSTEM, *wanted.system, 0});
  messages.push_back({MOTE_ROLE_USER, text, pictures});
  return tokenize(messages);
}

host::Status load_state(host::Session& session, const std::string& path) {
  const convert::MappedFile file(path);
  if (file.bytes().empty())
    return host::failed(host::Remedy::save_state, "{} is empty: it is no saved session", path);
  mote_error error = {};
  return host::from_core(
      mote_session_restore(session.get(), file.bytes().data(), file.bytes().size(), &error), error, path);
}

host::Status save_state(const host::Session& session, const std::string& path) {
  std::vector<std::byte> state(mote_session_state_bytes(session.get()));
  size_t written = 0;
  mote_error error = {};
  MOTE_TRY(host::from_core(mote_session_save(session.get(), state.data(), state.size(), &written, &error),
                           error, path));
  convert::OutputFile output(path);
  output.write(state);
  output.commit();
  return {};
}

/// Fails unless the context has room for a prompt behind the tokens that a session holds.
host::Status require_room(const Generator& generator, size_t prompt) {
  const size_t held = mote_session_length(generator.session.get(), 0);
  if (held + prompt <= generator.options.context) return {};
  return {MOTE_CONTEXT_FULL,
          host::sentence("{} tokens{} exceed the context of {}", held + prompt,
                         held == 0 ? " of the prompt" : ", those of the state among them,",
                         generator.options.context),
          host::Remedy::more_context};
}

/// The pictures of a prompt, which then has their tokens.
struct SeenPrompt {
  std::vector<std::shared_ptr<const host::SeenPicture>> pictures;
  std::optional<host::PicturePrompt> prompt;

  std::vector<const host::SeenPicture*> pointers() const {
    std::vector<const host::SeenPicture*> all;
    for (const auto& picture : pictures) all.push_back(picture.get());
    return all;
  }
};

host::Result<SeenPrompt> see(const mote_host& opened, const mote_platform& platform,
                             const host::Session& session, Inputs pictures, const host::Hooks& hooks,
                             std::vector<int32_t>& prompt) {
  SeenPrompt seen;
  if (pictures.empty()) return seen;
  MOTE_TAKE(const host::Model* const tower, opened.vision_tower());
  MOTE_TAKE(seen.pictures, see_pictures(opened, platform, pictures, hooks));
  MOTE_TAKE(seen.prompt, host::PicturePrompt::make(*opened.model, tower->output().width));
  MOTE_TAKE(prompt, seen.prompt->expand(session, prompt, seen.pointers()));
  return seen;
}

/// Computes what has to be before the answer, a prompt that is saved or has pictures; returns what is left
/// of it. `ms` grows by the time that it took.
host::Result<std::span<const int32_t>> prefill(Generator& generator, const Wanted& wanted,
                                               const SeenPrompt& seen, const std::vector<int32_t>& prompt,
                                               const host::Hooks& hooks, double& ms) {
  const host::Timer timer;
  if (!wanted.save_state.empty()) {
    if (!prompt.empty()) MOTE_TRY(host::prefill(generator.session, prompt, hooks, "run"));
    ms = timer.ms();
    MOTE_TRY(save_state(generator.session, wanted.save_state));
  }
  if (seen.prompt) {
    const host::Timer of_pictures;
    MOTE_TRY(
        seen.prompt->prefill(generator.session, generator.options.chunk, prompt, seen.pointers(), hooks));
    ms = of_pictures.ms();
  }
  if (wanted.save_state.empty() && !seen.prompt) return std::span<const int32_t>(prompt);
  return std::span<const int32_t>();
}

host::Status generate(mote_host& opened, Inputs inputs, const char* json_options,
                      const mote_host_calls* calls, Reply& reply) {
  const host::Model& model = *opened.model;
  const Wanted wanted = read_wanted(json_options);
  if (inputs.size() > 1 && !wanted.chat)
    throw OptionError("pictures stand before a message: option \"chat\"");
  if (model.task() != MOTE_TASK_GENERATE) return host::failed("{} continues no text", model.name());
  host::GenerationPlan plan = host::plan_generation(model, wanted.generation, false);
  plan.slides = wanted.context_full == "slide";
  MOTE_TAKE(plan.grammar, plan_grammar(opened, wanted.grammar));
  const host::Hooks hooks = hooks_of(opened, calls);
  Turn turn(opened, "generate", hooks);
  const std::string key = fmt::format("generate in {} rows, guesses {}", plan.speculation.logit_rows(),
                                      host::drafts(plan.speculation.mode) ? "of a draft" : "alone");
  MOTE_TAKE(Generator* const generator, turn->task<Generator>(key, [&] {
    return make_generator(opened, turn->platform(), plan.speculation);
  }));
  plan.draft = generator->draft ? &*generator->draft : nullptr;
  host::Session& session = generator->session;
  reply.json = session_json(session, generator->options, plan);
  reply.json["load_ms"] = generator->load_ms;
  if (inputs.empty()) return {};
  mote_error error = {};
  MOTE_TRY(host::from_core(mote_session_truncate(session.get(), 0, 0, &error), error, model.name()));
  if (!wanted.load_state.empty()) MOTE_TRY(load_state(session, wanted.load_state));
  MOTE_TAKE(std::vector<int32_t> prompt, prompt_ids(model, session, inputs[0], wanted, inputs.size() - 1));
  MOTE_TAKE(const SeenPrompt seen, see(opened, turn->platform(), session, inputs.subspan(1), hooks, prompt));
  if (wanted.grammar.heal) {
    MOTE_TAKE(const std::string healed, heal(opened, prompt));
    MOTE_TAKE(plan.grammar, plan_grammar(opened, wanted.grammar, healed));
  }
  MOTE_TRY(require_room(*generator, prompt.size()));
  double before_ms = 0;
  MOTE_TAKE(const std::span<const int32_t> left, prefill(*generator, wanted, seen, prompt, hooks, before_ms));
  const host::OnToken on_token = on_token_of(calls);
  MOTE_TAKE(host::Answer answer, host::generate(model, session, left, plan, hooks, on_token));
  answer.prompt_ms += before_ms;
  if (wanted.context_full == "slide") {
    MOTE_TRY(host::generate_sliding(model, session, generator->options.context, prompt, plan, hooks, on_token,
                                    answer));
  }
  reply.json.update(answer_json(answer, prompt.size()));
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
  generation.speculation = read_speculation(options);
  if (generation.greedy && generation.temperature)
    throw OptionError("options \"greedy\" and \"temp\" exclude each other");
  return generation;
}

host::Result<std::vector<std::shared_ptr<const host::SeenPicture>>> see_pictures(
    const mote_host& model, const mote_platform& platform, Inputs pictures, const host::Hooks& hooks) {
  std::vector<std::shared_ptr<const host::SeenPicture>> seen;
  if (pictures.empty()) return seen;
  MOTE_TAKE(const host::Model* const opened, model.vision_tower());
  const host::Model& tower = *opened;
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

Variables template_options(Options& options) {
  nlohmann::ordered_json given = nlohmann::ordered_json::object();
  options.read("set", given);
  if (!given.is_object()) throw OptionError("option \"set\": expected an object of variables");
  Variables variables;
  for (const auto& [name, value] : given.items()) variables.emplace_back(name, value);
  return variables;
}

nlohmann::json session_json(const host::Session& session, const mote_session_options& options,
                            const host::GenerationPlan& plan) {
  return {{"defaults", plan.defaults},
          {"context", options.context},
          {"arena_bytes", session.arena_bytes() + (plan.draft == nullptr ? 0 : plan.draft->arena_bytes())},
          {"draft_bytes", plan.draft == nullptr ? 0 : plan.draft->arena_bytes()},
          {"isa", mote_isa_name(mote_session_isa(session.get()))}};
}

host::OnToken on_token_of(const mote_host_calls* calls) {
  if (calls == nullptr || calls->text == nullptr) return {};
  return [heard = *calls](int32_t id, const std::string& text) {
    heard.text(heard.user, text.data(), text.size(), id);
  };
}

nlohmann::json answer_json(const host::Answer& answer, size_t prompt_tokens) {
  return {{"text", answer.text},
          {"speculation", guesses_json({answer.guesses, answer.no_guesses})},
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
    return mote::api::generate(*model, mote::api::inputs_of(inputs, count, 0), options, calls, reply);
  });
}
