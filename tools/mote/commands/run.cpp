// SPDX-License-Identifier: Apache-2.0
//
// mote run: continues a prompt, streaming what it generates.
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "host/base/error.h"
#include "host/base/output_file.h"
#include "host/base/system.h"
#include "host/base/timer.h"
#include "tools/mote/advice.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/generation.h"
#include "tools/mote/grammar_flags.h"
#include "tools/mote/host_model.h"
#include "tools/mote/ids.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/signals.h"
#include "tools/mote/template_variables.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct RunArguments {
  std::string file;
  std::optional<std::string> prompt, prompt_file, ids, messages, system;
  std::string save_state, load_state, context_full = "stop";
  std::string vision;
  std::vector<std::string> images, variables;
  bool chat = false, json = false;
  GenerationFlags generation;
  GrammarFlags grammar;
  SessionFlags session;
};

std::string prompt_text(const RunArguments& arguments) {
  if (arguments.prompt) return *arguments.prompt;
  if (arguments.prompt_file) return read_text(*arguments.prompt_file);
  if (convert::is_terminal(convert::Stream::input))
    usage_fail("no prompt; give one with -p TEXT, --file FILE, --ids IDS or on standard input");
  return read_text("-");
}

std::string options_of(const RunArguments& arguments) {
  nlohmann::ordered_json options = options_of(arguments.generation);
  add_grammar_options(arguments.grammar, options);
  options["chat"] = arguments.chat && !arguments.ids && !arguments.messages;
  options["messages"] = arguments.messages.has_value();
  options["context-full"] = arguments.context_full;
  if (arguments.chat && arguments.system) options["system"] = *arguments.system;
  if (!arguments.variables.empty()) options["set"] = given_variables(arguments.variables);
  if (!arguments.save_state.empty()) options["save-state"] = arguments.save_state;
  if (!arguments.load_state.empty()) options["load-state"] = arguments.load_state;
  return text_of(options);
}

/// The prompt as the call takes it, and the pictures before it.
struct Prompt {
  Prompt(const RunArguments& arguments, const HostModel& model) {
    if (arguments.ids) {
      ids = given_ids(*arguments.ids);
      if (ids.empty()) usage_fail("--ids: no ids; give at least one, such as --ids 1");
      inputs.push_back(ids_input(ids, "--ids"));
      return;
    }
    // Without a tokenizer the call fails whatever the text is.
    if (model.info().tokens != 0)
      text = arguments.messages ? read_text(*arguments.messages) : prompt_text(arguments);
    inputs.push_back(text_input(text));
    if (arguments.messages) inputs[0].path = arguments.messages->c_str();
    for (const std::string& path : arguments.images) inputs.push_back(file_input(path));
  }

  std::vector<int32_t> ids;
  std::string text;
  std::vector<mote_host_input> inputs;
};

void print_answer(const RunArguments& arguments, const HostModel& model, const nlohmann::json& answer,
                  double load_ms) {
  const auto arena_bytes = answer.at("arena_bytes").get<size_t>();
  if (arguments.json) {
    nlohmann::json all;
    for (const char* key :
         {"prompt_ids", "output_ids", "text", "finish", "prompt_ms", "decode_ms", "prompt_tokens_per_s",
          "decode_tokens_per_s", "arena_bytes", "draft_bytes", "isa", "speculation"})
      all[key] = answer.at(key);
    all["load_ms"] = load_ms;
    all["backend_bytes"] = model.backend_bytes();
    all["threads"] = model.threads().threads;
    all["decode_threads"] = model.threads().decode_threads;
    return print_json(all);
  }
  note("prompt {} tokens, {:.1f} per second; output {} tokens, {:.1f} per second; {}; {}, {}",
       answer.at("prompt_ids").size(), answer.at("prompt_tokens_per_s").get<double>(),
       answer.at("output_ids").size(), answer.at("decode_tokens_per_s").get<double>(),
       model.memory_text(arena_bytes), answer.at("isa").get<std::string>(), model.threads().text());
  tell_no_guesses(arguments.generation.speculation, answer);
}

/// Calls for an answer, which streams. None of the inputs: makes the session.
nlohmann::json generate(const RunArguments& arguments, const HostModel& model,
                        const std::vector<mote_host_input>& inputs, const std::string& options) {
  const bool text = model.info().tokens != 0;
  bool first = true;
  HostCalls calls;
  calls.on_text = [&](std::string_view part, int32_t id) {
    if (arguments.json) return;
    if (text) write_output(part);
    if (!text) print("{}{}", first ? "" : " ", id);
    first = false;
    flush_output();
  };
  try {
    return calls
        .take(mote_host_generate(model.get(), inputs.data(), inputs.size(), options.c_str(), calls.get()))
        .json();
  } catch (const HostFailure& failure) {
    if (failure.remedy() != MOTE_REMEDY_MORE_CONTEXT) throw;
    convert::fail("{}: give more with --context, up to the model's {}, or a shorter prompt", failure.what(),
                  model.info().context);
  }
}

void run_model(const RunArguments& arguments) {
  const host::Timer timer;
  convert::refuse_input(arguments.save_state,
                        {arguments.file, arguments.load_state, arguments.prompt_file.value_or("")});
  if (!arguments.variables.empty() && !arguments.chat && !arguments.messages)
    usage_fail("--set is for --chat and --messages");
  if (arguments.images.empty() != arguments.vision.empty())
    usage_fail("--image PICTURE and --vision MODEL go together");
  check_grammar(arguments.grammar);
  nlohmann::json opening = nlohmann::json::object();
  if (!arguments.vision.empty()) opening["vision"] = arguments.vision;
  add_draft(arguments.generation.speculation, opening);
  HostModel model(arguments.file, arguments.session, opening);
  model.refuse_source("run");
  if (model.encodes() && !arguments.ids && model.info().tokens == 0)
    convert::fail("{} has no tokenizer, so it cannot read a text{}", model.path(),
                  advice(MOTE_REMEDY_GIVE_IDS));
  if (model.encodes()) convert::fail("run: this model is an encoder, which keeps no tokens: use mote_encode");
  model.begin();
  const std::string options = options_of(arguments);
  const nlohmann::json begun = generate(arguments, model, {}, options);
  const std::string defaults = begun.at("defaults");
  if (!defaults.empty()) note("as the model's authors say: {}", defaults);
  const double load_ms = timer.ms();
  const Prompt prompt(arguments, model);
  const InterruptGuard guard;
  const nlohmann::json answer = generate(arguments, model, prompt.inputs, options);
  if (!arguments.json) print("\n");
  flush_output();
  if (answer.at("finish") == "context") {
    note(
        "the context of {} tokens is full; --context gives more, up to the model's {}, --context-full slide "
        "goes on",
        answer.at("context").get<uint32_t>(), model.info().context);
  }
  print_answer(arguments, model, answer, load_ms);
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
  command.option("--image", &arguments.images, "A picture before the message; as often as wanted")
      .type("PICTURE")
      .repeated()
      .needs(chat);
  command.option("--vision", &arguments.vision, "The file of the model that sees").type("MODEL");
  add_generation_flags(command, arguments.generation, 128, false);
  add_grammar_flags(command, arguments.grammar, true);
  command.flag("--heal", &arguments.grammar.heal,
               "Take the prompt's last token back where it may be the begin of a longer one");
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
