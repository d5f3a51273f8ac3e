// SPDX-License-Identifier: Apache-2.0
//
// mote chat: a conversation, turn by turn.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "host/base/error.h"
#include "host/base/system.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/generation.h"
#include "tools/mote/grammar_flags.h"
#include "tools/mote/host_model.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/signals.h"
#include "tools/mote/system.h"
#include "tools/mote/template_variables.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct ChatArguments {
  std::string file;
  std::optional<std::string> prompt, system;
  std::string vision;
  std::vector<std::string> images, variables;
  std::string context_full = "slide";
  bool json = false;
  GenerationFlags generation;
  GrammarFlags grammar;
  SessionFlags session;
};

/// A conversation on the terminal: whom it shows answers, and the pictures for its next message.
class Talk {
 public:
  Talk(const HostModel& model, const ChatArguments& arguments)
      : model_(model), arguments_(arguments), given_(arguments.images) {
    nlohmann::ordered_json options = options_of(arguments.generation);
    add_grammar_options(arguments.grammar, options);
    options["context-full"] = arguments.context_full;
    if (arguments.system) options["system"] = *arguments.system;
    if (!arguments.variables.empty()) options["set"] = given_variables(arguments.variables);
    mote_host_chat* begun = nullptr;
    session_ = HostResult(mote_host_chat_begin(model.get(), text_of(options).c_str(), &begun)).json();
    chat_.reset(begun);
  }

  /// Streams the answer. Throws convert::Error.
  void say(const std::string& text) {
    std::vector<mote_host_input> inputs{text_input(text)};
    const std::vector<std::string> pictures = std::exchange(given_, {});
    for (const std::string& path : pictures) inputs.push_back(file_input(path));
    HostCalls calls;
    calls.on_text = [&](std::string_view part, int32_t) {
      if (arguments_.json) return;
      write_output(part);
      flush_output();
    };
    answer_ = calls.take(mote_host_chat_say(chat_.get(), inputs.data(), inputs.size(), calls.get())).json();
  }
  void forget() { const HostResult done(mote_host_chat_reset(chat_.get())); }
  /// Returns what was taken from the model's authors; "": nothing.
  std::string defaults() const { return session_.at("defaults"); }
  void report() const;

 private:
  struct End {
    void operator()(mote_host_chat* chat) const { mote_host_chat_end(chat); }
  };

  const HostModel& model_;
  const ChatArguments& arguments_;
  std::vector<std::string> given_;
  nlohmann::json session_, answer_;
  std::unique_ptr<mote_host_chat, End> chat_;
};

void Talk::report() const {
  const auto arena_bytes = session_.at("arena_bytes").get<size_t>();
  if (arguments_.json) {
    nlohmann::json all;
    for (const char* key : {"text", "output_ids", "finish", "prompt_tokens", "reused_tokens", "prompt_ms",
                            "decode_ms", "decode_tokens_per_s", "speculation"})
      all[key] = answer_.at(key);
    all["arena_bytes"] = arena_bytes;
    all["draft_bytes"] = session_.at("draft_bytes");
    all["backend_bytes"] = model_.backend_bytes();
    all["isa"] = session_.at("isa");
    print_json(all);
    flush_output();
    return;
  }
  print("\n");
  flush_output();
  const std::string finish = answer_.at("finish");
  if (finish == "context")
    note("the context of {} tokens is full: the answer ends here", session_.at("context").get<uint32_t>());
  if (finish == "cancelled") note("stopped");
  if (finish == "length") note("cut at {} tokens; -n gives more", arguments_.generation.tokens);
  note("({} tokens, {:.1f} per second; prompt {} tokens, {} of them reused; {})",
       answer_.at("output_ids").size(), answer_.at("decode_tokens_per_s").get<double>(),
       answer_.at("prompt_tokens").get<size_t>(), answer_.at("reused_tokens").get<size_t>(),
       model_.memory_text(arena_bytes));
  tell_no_guesses(arguments_.generation.speculation, answer_);
}

/// A line of standard input; none at its end. Ctrl-C at the prompt of a terminal drops the line.
std::optional<std::string> read_line(bool terminal) {
  std::string line;
  for (;;) {
    InterruptGuard::clear();
    if (!terminal) {
      if (!std::getline(std::cin, line)) return std::nullopt;
      break;
    }
    fmt::print(stderr, "> ");
    const Typed typed = read_terminal_line(line);
    if (typed == Typed::line) break;
    if (typed == Typed::end) return std::nullopt;
    note("\n(/exit or Ctrl-D ends)");
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

void converse(Talk& talk) {
  const bool terminal = convert::is_terminal(convert::Stream::input);
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
    talk.report();
  }
}

void chat(const ChatArguments& arguments) {
  if (arguments.images.empty() != arguments.vision.empty())
    usage_fail("--image PICTURE and --vision MODEL go together");
  check_grammar(arguments.grammar);
  nlohmann::json opening = nlohmann::json::object();
  if (!arguments.vision.empty()) opening["vision"] = arguments.vision;
  add_draft(arguments.generation.speculation, opening);
  HostModel model(arguments.file, arguments.session, opening);
  model.refuse_source("chat");
  model.begin();
  Talk talk(model, arguments);
  if (const std::string defaults = talk.defaults(); !defaults.empty())
    note("as the model's authors say: {} (--greedy, --temp and --repeat-penalty say otherwise)", defaults);
  if (!arguments.prompt) return converse(talk);
  const InterruptGuard guard;
  talk.say(*arguments.prompt);
  talk.report();
}

}  // namespace

void add_chat(CommandLine& line) {
  auto [command, arguments] =
      model_command(line, "chat", "Talk with a model, a line of standard input a turn", chat);
  command.option("-p,--prompt", &arguments.prompt, "Say this, print the answer and exit").type("TEXT");
  command.option("--system", &arguments.system, "The system message (default: the model's own, if any)")
      .type("TEXT");
  add_variables_option(command, arguments.variables);
  command.option("--image", &arguments.images, "A picture before the first message; as often as wanted")
      .type("PICTURE")
      .repeated();
  command.option("--vision", &arguments.vision, "The file of the model that sees").type("MODEL");
  add_generation_flags(command, arguments.generation, 1024, true);
  add_grammar_flags(command, arguments.grammar, true);
  add_context_full_flag(command, arguments.context_full, "the oldest turns");
  add_session_flags(command, arguments.session);
  command.flag("--json", &arguments.json, "Print a JSON object for each answer instead of streaming");
}

}  // namespace mote::cli
