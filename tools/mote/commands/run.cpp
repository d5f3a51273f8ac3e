// SPDX-License-Identifier: Apache-2.0
//
// mote run: continues a prompt, streaming what it generates.
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>

#include "host/base/error.h"
#include "host/base/output_file.h"
#include "host/chat/model_template.h"
#include "host/tasks/text.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/generation.h"
#include "tools/mote/ids.h"
#include "tools/mote/measure/timer.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/session.h"
#include "tools/mote/signals.h"
#include "tools/mote/state_file.h"
#include "tools/mote/steps.h"
#include "tools/mote/template_variables.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"
#include "tools/mote/vision_tower.h"

namespace mote::cli {
namespace {

struct RunArguments {
  std::string file;
  std::optional<std::string> prompt, prompt_file, ids, messages, system;
  std::string save_state, load_state, context_full = "stop";
  std::string vision;
  std::vector<std::string> images, variables;
  bool chat = false, json = false;
  host::GenerationOptions generation;
  SessionFlags session;
};

std::string prompt_text(const RunArguments& arguments) {
  if (arguments.prompt) return *arguments.prompt;
  if (arguments.prompt_file) return read_text(*arguments.prompt_file);
  if (isatty(STDIN_FILENO) != 0)
    usage_fail("no prompt; give one with -p TEXT, --file FILE, --ids IDS or on standard input");
  return read_text("-");
}

std::vector<int32_t> chat_ids(const RunArguments& arguments, const ModelFile& file, const Session& session,
                              const std::string& text) {
  const host::ChatTokenizer tokenize =
      take(convert::chat_tokenizer(file.host(), session, given_variables(arguments.variables)));
  std::vector<host::ChatMessage> messages;
  if (arguments.system) messages.push_back({MOTE_ROLE_SYSTEM, *arguments.system, 0});
  messages.push_back({MOTE_ROLE_USER, text, arguments.images.size()});
  return take(tokenize(messages));
}

/// A prompt that continues a saved one gets no tokens around it.
std::vector<int32_t> prompt_ids(const RunArguments& arguments, const ModelFile& file,
                                const Session& session) {
  if (arguments.ids) {
    const std::vector<int32_t> ids = given_ids(*arguments.ids);
    if (ids.empty()) usage_fail("--ids: no ids; give at least one, such as --ids 1");
    check_ids(ids, file, "--ids");
    return ids;
  }
  require_tokenizer(file, "give token ids with --ids 1,2,3 instead");
  if (arguments.messages) {
    return take(convert::tokenize_messages(
        file.host(), session, convert::read_conversation(read_text(*arguments.messages), *arguments.messages),
        given_variables(arguments.variables)));
  }
  const std::string text = prompt_text(arguments);
  if (arguments.chat) return chat_ids(arguments, file, session, text);
  const bool continues = !arguments.load_state.empty();
  std::vector<int32_t> ids =
      tokenize(file, session, text, continues ? MOTE_PARSE_SPECIAL : MOTE_PARSE_SPECIAL | MOTE_ADD_SPECIAL);
  if (ids.empty() && !continues) {
    if (file.info().bos_id < 0) convert::fail("the prompt is empty; give at least one word");
    ids.push_back(file.info().bos_id);
  }
  return ids;
}

/// The pictures of a prompt, which then has their tokens.
struct SeenPrompt {
  std::vector<host::SeenPicture> pictures;
  std::optional<host::PicturePrompt> prompt;

  std::vector<const host::SeenPicture*> pointers() const {
    std::vector<const host::SeenPicture*> all;
    for (const host::SeenPicture& picture : pictures) all.push_back(&picture);
    return all;
  }
};
SeenPrompt see(const RunArguments& arguments, const ModelFile& file, const Session& session,
               std::vector<int32_t>& prompt) {
  SeenPrompt seen;
  if (arguments.images.empty()) return seen;
  const VisionTower tower(arguments.vision, arguments.session);
  seen.prompt = take(host::PicturePrompt::make(file.host(), tower.features()));
  for (const std::string& path : arguments.images) seen.pictures.push_back(tower.see(path));
  prompt = take(seen.prompt->expand(session, prompt, seen.pointers()));
  return seen;
}

void print_answer(const RunArguments& arguments, const std::vector<int32_t>& prompt,
                  const host::Answer& answer, const Session& session, double load_ms,
                  const ThreadPool& pool) {
  if (arguments.json) {
    print_json({{"prompt_ids", prompt},
                {"output_ids", answer.ids},
                {"text", answer.text},
                {"finish", host::finish_name(answer.finish)},
                {"prompt_ms", answer.prompt_ms},
                {"decode_ms", answer.decode_ms},
                {"load_ms", load_ms},
                {"prompt_tokens_per_s", answer.prompt_per_s(prompt.size())},
                {"decode_tokens_per_s", answer.decode_per_s()},
                {"arena_bytes", session.arena_bytes()},
                {"backend_bytes", session.backend_bytes()},
                {"isa", session.isa()},
                {"threads", pool.threads()},
                {"decode_threads", pool.decode_threads()}});
    return;
  }
  note("prompt {} tokens, {:.1f} per second; output {} tokens, {:.1f} per second; {}; {}, {}", prompt.size(),
       answer.prompt_per_s(prompt.size()), answer.ids.size(), answer.decode_per_s(), session.memory_text(),
       session.isa(), pool.text());
}

void run_model(const RunArguments& arguments) {
  Timer timer;
  convert::refuse_input(arguments.save_state,
                        {arguments.file, arguments.load_state, arguments.prompt_file.value_or("")});
  if (!arguments.variables.empty() && !arguments.chat && !arguments.messages)
    usage_fail("--set is for --chat and --messages");
  if (arguments.images.empty() != arguments.vision.empty())
    usage_fail("--image PICTURE and --vision MODEL go together");
  const ModelFile file(arguments.file, arguments.session);
  refuse_source(file, "run");
  const host::GenerationPlan plan = host::plan_generation(file.host(), arguments.generation, false);
  if (!plan.defaults.empty()) note("as the model's authors say: {}", plan.defaults);
  const ThreadPool pool(file, arguments.session);
  const mote_session_options options = session_options(file, arguments.session, pool);
  Session session(file, options);
  const double load_ms = timer.ms();
  if (!arguments.load_state.empty()) load_state(session, arguments.load_state);
  std::vector<int32_t> prompt = prompt_ids(arguments, file, session);
  const SeenPrompt seen = see(arguments, file, session, prompt);

  const size_t held = mote_session_length(session.get(), 0);
  if (held + prompt.size() > options.context) {
    convert::fail(
        "{} tokens{} exceed the context of {}: give more with --context, up to the model's {}, or a "
        "shorter prompt",
        held + prompt.size(), held == 0 ? " of the prompt" : ", those of the state among them,",
        options.context, file.info().context);
  }

  const bool text = file.info().tokens != 0;
  bool first = true;
  Relay relay;
  const host::OnToken on_token = relay.wrap([&](int32_t id, const std::string& part) {
    if (arguments.json) return;
    if (text) write_output(part);
    if (!text) print("{}{}", first ? "" : " ", id);
    first = false;
    flush_output();
  });
  const InterruptGuard guard;
  std::vector<int32_t> left = prompt;
  double saved_ms = 0;
  if (!arguments.save_state.empty()) {
    timer.restart();
    if (!prompt.empty()) prefill(session, prompt, "run");
    saved_ms = timer.ms();
    save_state(session, arguments.save_state);
    left.clear();
  }
  if (seen.prompt) {
    timer.restart();
    check(seen.prompt->prefill(session, options.chunk, prompt, seen.pointers(), hooks()));
    saved_ms = timer.ms();
    left.clear();
  }
  host::Answer answer = relay.take(host::generate(file.host(), session, left, plan, relay.hooks(), on_token));
  answer.prompt_ms += saved_ms;
  if (arguments.context_full == "slide") {
    relay.check(host::generate_sliding(file.host(), session, options.context, prompt, plan, relay.hooks(),
                                       on_token, answer));
  }
  if (!arguments.json) print("\n");
  flush_output();
  if (answer.finish == MOTE_FINISH_CONTEXT) {
    note(
        "the context of {} tokens is full; --context gives more, up to the model's {}, --context-full slide "
        "goes on",
        options.context, file.info().context);
  }
  print_answer(arguments, prompt, answer, session, load_ms, pool);
}

}  // namespace

void add_run(CommandLine& line) {
  auto [command, arguments] = model_command(line, "run", "Continue a prompt", run_model);
  Command prompt = command.group("prompt", "One of these, else standard input", 0, 1);
  prompt.option("-p,--prompt", &arguments.prompt, "The prompt as text").type("TEXT");
  prompt.option("--file", &arguments.prompt_file, "The prompt as a text file, - for standard input")
      .type("FILE");
  prompt.option("--ids", &arguments.ids, "The prompt as token ids, such as 1,2,3").type("IDS");
  prompt
      .option("--messages", &arguments.messages,
              "A conversation in JSON, rendered by the model's chat template; - for standard input")
      .type("FILE");
  add_variables_option(command, arguments.variables);
  Option chat =
      command.flag("--chat", &arguments.chat,
                   "The prompt is a message: wrap it in the model's chat format, as mote chat does");
  command.option("--system", &arguments.system, "The system message before it").type("TEXT").needs(chat);
  command.option("--image", &arguments.images, "A PNG or JPEG before the message; as often as wanted")
      .type("PICTURE")
      .repeated()
      .needs(chat);
  command.option("--vision", &arguments.vision, "The file of the model that sees").type("MODEL");
  add_generation_flags(command, arguments.generation, 128, false);
  add_context_full_flag(command, arguments.context_full, "the older half");
  command.option("--save-state", &arguments.save_state, "Save the session after the prompt").type("FILE");
  command
      .option("--load-state", &arguments.load_state,
              "Go on from a saved session; the prompt follows what it holds")
      .type("FILE");
  add_session_flags(command, arguments.session);
  command.flag("--json", &arguments.json, "Print one JSON object at the end instead of streaming");
}

}  // namespace mote::cli
