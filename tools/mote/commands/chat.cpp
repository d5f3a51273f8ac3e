// SPDX-License-Identifier: Apache-2.0
//
// mote chat: a conversation, turn by turn.
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <memory>
#include <optional>

#include "host/base/error.h"
#include "host/chat/model_template.h"
#include "host/tasks/chat.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/generation.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/session.h"
#include "tools/mote/signals.h"
#include "tools/mote/template_variables.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"
#include "tools/mote/vision_tower.h"

namespace mote::cli {
namespace {

struct ChatArguments {
  std::string file;
  std::optional<std::string> prompt, system;
  std::string vision;
  std::vector<std::string> images, variables;
  std::string context_full = "slide";
  bool json = false;
  host::GenerationOptions generation;
  SessionFlags session;
};

/// A conversation on the terminal: whom it shows answers, and the pictures for its next message.
class Talk {
 public:
  Talk(const ModelFile& file, Session& session, const ChatArguments& arguments,
       const mote_session_options& options, host::GenerationPlan plan)
      : arguments_(arguments),
        chat_(take(host::Chat::begin(file.host(), session, options, std::move(plan),
                                     {arguments.system, arguments.context_full == "slide"},
                                     tokenizer(file, session, arguments)))),
        given_(arguments.images.begin(), arguments.images.end()) {
    if (arguments.vision.empty()) return;
    tower_.emplace(arguments.vision, arguments.session);
    check(chat_.take_pictures(tower_->features()));
  }

  /// Streams the answer. Throws convert::Error.
  void say(const std::string& text) {
    std::vector<std::shared_ptr<const host::SeenPicture>> pictures;
    for (const std::string& path : given_)
      pictures.push_back(std::make_shared<const host::SeenPicture>(tower_->see(path)));
    given_.clear();
    Relay relay;
    relay.check(
        chat_.say(text, std::move(pictures), relay.hooks(), relay.wrap([&](int32_t, const std::string& part) {
          if (arguments_.json) return;
          write_output(part);
          flush_output();
        })));
  }
  void forget() { chat_.forget(); }
  const host::Chat& chat() const { return chat_; }

 private:
  static host::ChatTokenizer tokenizer(const ModelFile& file, const Session& session,
                                       const ChatArguments& arguments) {
    require_tokenizer(file, "mote run --ids takes token ids");
    return take(convert::chat_tokenizer(file.host(), session, given_variables(arguments.variables)));
  }

  const ChatArguments& arguments_;
  host::Chat chat_;
  std::vector<std::string> given_;
  std::optional<VisionTower> tower_;
};

void report(const ChatArguments& arguments, const host::Chat& chat, const Session& session,
            uint32_t context) {
  const host::Answer& answer = chat.answer();
  if (arguments.json) {
    print_json({{"text", answer.text},
                {"output_ids", answer.ids},
                {"finish", host::finish_name(answer.finish)},
                {"prompt_tokens", chat.prompt_tokens()},
                {"reused_tokens", chat.reused()},
                {"prompt_ms", answer.prompt_ms},
                {"decode_ms", answer.decode_ms},
                {"decode_tokens_per_s", answer.decode_per_s()},
                {"arena_bytes", session.arena_bytes()},
                {"backend_bytes", session.backend_bytes()},
                {"isa", session.isa()}});
    flush_output();
    return;
  }
  print("\n");
  flush_output();
  if (answer.finish == MOTE_FINISH_CONTEXT)
    note("the context of {} tokens is full: the answer ends here", context);
  if (answer.finish == MOTE_FINISH_CANCELLED) note("stopped");
  if (answer.finish == MOTE_FINISH_LENGTH)
    note("cut at {} tokens; -n gives more", arguments.generation.tokens);
  note("({} tokens, {:.1f} per second; prompt {} tokens, {} of them reused; {})", answer.ids.size(),
       answer.decode_per_s(), chat.prompt_tokens(), chat.reused(), session.memory_text());
}

/// A line of standard input; none at its end. Ctrl-C at the prompt of a terminal drops the line.
std::optional<std::string> read_line(bool terminal) {
  for (;;) {
    InterruptGuard::clear();
    if (terminal) fmt::print(stderr, "> ");
    // A terminal gives whole lines: once there is something to read, getline does not wait.
    if (!terminal || InterruptGuard::wait_readable(STDIN_FILENO)) break;
    if (!InterruptGuard::interrupted()) return std::nullopt;
    note("\n(/exit or Ctrl-D ends)");
  }
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

void converse(Talk& talk, const ChatArguments& arguments, const Session& session, uint32_t context) {
  const bool terminal = isatty(STDIN_FILENO) != 0;
  if (terminal) note("Ctrl-C stops an answer, /new begins another conversation, /exit ends.");
  const InterruptGuard guard;
  while (const std::optional<std::string> line = read_line(terminal)) {
    if (line->empty()) continue;
    if (*line == "/exit") return;
    if (*line == "/new") {
      talk.forget();
      continue;
    }
    try {
      talk.say(*line);
    } catch (const convert::Error& error) {
      if (!terminal) throw;
      note("{}", one_line(error.what()));
      continue;
    }
    report(arguments, talk.chat(), session, context);
  }
}

void chat(const ChatArguments& arguments) {
  if (arguments.images.empty() != arguments.vision.empty())
    usage_fail("--image PICTURE and --vision MODEL go together");
  const ModelFile file(arguments.file, arguments.session);
  refuse_source(file, "chat");
  host::GenerationPlan plan = host::plan_generation(file.host(), arguments.generation, true);
  const std::string defaults = plan.defaults;
  const ThreadPool pool(file, arguments.session);
  const mote_session_options options = session_options(file, arguments.session, pool);
  Session session(file, options);
  Talk talk(file, session, arguments, options, std::move(plan));
  if (!defaults.empty())
    note("as the model's authors say: {} (--greedy, --temp and --repeat-penalty say otherwise)", defaults);
  if (!arguments.prompt) return converse(talk, arguments, session, options.context);
  const InterruptGuard guard;
  talk.say(*arguments.prompt);
  report(arguments, talk.chat(), session, options.context);
}

}  // namespace

void add_chat(CommandLine& line) {
  auto [command, arguments] =
      model_command(line, "chat", "Talk with a model, a line of standard input a turn", chat);
  command.option("-p,--prompt", &arguments.prompt, "Say this, print the answer and exit").type("TEXT");
  command.option("--system", &arguments.system, "The system message (default: the model's own, if any)")
      .type("TEXT");
  add_variables_option(command, arguments.variables);
  command.option("--image", &arguments.images, "A PNG or JPEG before the first message; as often as wanted")
      .type("PICTURE")
      .repeated();
  command.option("--vision", &arguments.vision, "The file of the model that sees").type("MODEL");
  add_generation_flags(command, arguments.generation, 1024, true);
  add_context_full_flag(command, arguments.context_full, "the oldest turns");
  add_session_flags(command, arguments.session);
  command.flag("--json", &arguments.json, "Print a JSON object for each answer instead of streaming");
}

}  // namespace mote::cli
