// SPDX-License-Identifier: Apache-2.0
//
// mote run: continues a prompt, streaming what it generates.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "converter/error.h"
#include "tools/mote/commands.h"
#include "tools/mote/ids.h"
#include "tools/mote/output.h"
#include "tools/mote/session.h"
#include "tools/mote/timer.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct Arguments {
  std::string file;
  std::optional<std::string> prompt, ids;
  uint32_t tokens = 128;
  bool greedy = false, ignore_stop = false, json = false;
  mote_sampling sampling = mote_sampling_default();
  SessionFlags session;
};

struct Answer {
  std::vector<int32_t> prompt, ids;
  mote_finish finish = MOTE_FINISH_NONE;
  double load_ms = 0, prompt_ms = 0, decode_ms = 0;

  double prompt_per_s() const { return per_second(static_cast<double>(prompt.size()), prompt_ms); }
  /// The first token comes with the prompt.
  double decode_per_s() const {
    return ids.size() < 2 ? 0.0 : per_second(static_cast<double>(ids.size() - 1), decode_ms);
  }
};

const char* finish_name(mote_finish finish) {
  switch (finish) {
    case MOTE_FINISH_LENGTH:
      return "length";
    case MOTE_FINISH_STOP:
      return "stop";
    case MOTE_FINISH_CONTEXT:
      return "context";
    case MOTE_FINISH_CANCELLED:
      return "cancelled";
    case MOTE_FINISH_NONE:
      break;
  }
  return "none";
}

std::vector<int32_t> prompt_ids(const Arguments& arguments, const ModelFile& file) {
  if (arguments.prompt) {
    convert::fail(
        "{} has no tokenizer, so it cannot read a text; give token ids with --ids 1,2,3 instead of -p",
        file.path());
  }
  std::vector<int32_t> ids;
  try {
    ids = parse_ids(*arguments.ids, "--ids");
  } catch (const convert::Error& error) {
    throw UsageError(error.what());
  }
  if (ids.empty()) usage_fail("--ids: no ids; give at least one, such as --ids 1");
  check_ids(ids, file, "--ids");
  return ids;
}

/// Each id as it comes, unless all is printed as JSON at the end.
void stream(int32_t id, bool first) {
  print("{}{}", first ? "" : " ", id);
  flush_output();
}

void generate(const Arguments& arguments, Session& session, Answer& answer) {
  mote_generation generation = mote_generation_default();
  generation.sampling = arguments.sampling;
  generation.max_tokens = arguments.tokens;
  generation.ignore_model_stops = arguments.ignore_stop;
  mote_error error = {};
  Timer timer;
  check(mote_generation_begin(session.get(), answer.prompt.data(),
                              static_cast<uint32_t>(answer.prompt.size()), &generation, &error),
        error, "run");
  while (answer.finish == MOTE_FINISH_NONE) {
    mote_event event = {};
    check(mote_session_step(session.get(), 0, &event, &error), error, "run");
    answer.finish = event.finish;
    if (event.has_token == 0) continue;
    if (answer.ids.empty()) answer.prompt_ms = timer.restart();
    if (!arguments.json) stream(event.id, answer.ids.empty());
    answer.ids.push_back(event.id);
  }
  answer.decode_ms = timer.ms();
  if (!arguments.json) print("\n");
}

void print_answer(const Answer& answer, const Session& session, uint32_t threads) {
  print_json({{"prompt_ids", answer.prompt},
              {"output_ids", answer.ids},
              {"text", ""},
              {"finish", finish_name(answer.finish)},
              {"prompt_ms", answer.prompt_ms},
              {"decode_ms", answer.decode_ms},
              {"load_ms", answer.load_ms},
              {"prompt_tokens_per_s", answer.prompt_per_s()},
              {"decode_tokens_per_s", answer.decode_per_s()},
              {"arena_bytes", session.arena_bytes()},
              {"isa", session.isa()},
              {"threads", threads}});
}

void run_model(const Arguments& arguments) {
  Timer timer;
  const ModelFile file(arguments.file);
  Answer answer;
  answer.prompt = prompt_ids(arguments, file);
  const ThreadPool pool(arguments.session.threads);
  const mote_session_options options = session_options(file, arguments.session, pool);
  Session session(file, options);
  answer.load_ms = timer.ms();
  generate(arguments, session, answer);
  flush_output();
  if (answer.finish == MOTE_FINISH_CONTEXT) {
    note("the context of {} tokens is full; --context gives more, up to the model's {}", options.context,
         file.info().context);
  }
  if (arguments.json) return print_answer(answer, session, pool.threads());
  note(
      "prompt {} tokens, {:.1f} per second; output {} tokens, {:.1f} per second; arena {} bytes ({}); {}, {} "
      "threads",
      answer.prompt.size(), answer.prompt_per_s(), answer.ids.size(), answer.decode_per_s(),
      session.arena_bytes(), human_bytes(session.arena_bytes()), session.isa(), pool.threads());
}

void add_sampling(CLI::App& command, Arguments& arguments) {
  mote_sampling& sampling = arguments.sampling;
  CLI::Option* greedy =
      command.add_flag("--greedy", arguments.greedy, "Always the likeliest token (the default)");
  CLI::Option* temperature =
      command.add_option("--temp", sampling.temperature, "Sample at this temperature; 0 is greedy")
          ->type_name("T")
          ->check(CLI::Range(0.0f, 1000.0f).description(""))
          ->excludes(greedy);
  command.add_option("--top-k", sampling.top_k, "Sample of the K likeliest tokens; 0: of all")
      ->type_name("K")
      ->needs(temperature);
  command
      .add_option("--top-p", sampling.top_p, "Sample of the likeliest tokens that make up this probability")
      ->type_name("P")
      ->check(CLI::Range(0.0f, 1.0f).description(""))
      ->needs(temperature);
  command
      .add_option("--min-p", sampling.min_p, "Sample of tokens at least P times as likely as the likeliest")
      ->type_name("P")
      ->check(CLI::Range(0.0f, 1.0f).description(""))
      ->needs(temperature);
  command.add_option("--seed", sampling.seed, "Seed of the random numbers (default: 0)")
      ->type_name("N")
      ->needs(temperature);
  command
      .add_option("--repeat-penalty", sampling.repetition_penalty,
                  "Make recent tokens less likely, over the last 256; 1 does not")
      ->type_name("X")
      ->check(CLI::Range(0.01f, 100.0f).description(""));
}

}  // namespace

void add_run(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  arguments->sampling.repetition_window = MOTE_REPETITION_WINDOW;
  CLI::App* command = app.add_subcommand("run", "Continue a prompt");
  add_model_argument(*command, arguments->file);
  CLI::Option_group* prompt = command->add_option_group("prompt");
  prompt->add_option("-p,--prompt", arguments->prompt, "The prompt as text; takes a tokenizer in the file")
      ->type_name("TEXT");
  prompt->add_option("--ids", arguments->ids, "The prompt as token ids, such as 1,2,3")->type_name("IDS");
  prompt->require_option(1);
  command
      ->add_option("-n,--tokens", arguments->tokens,
                   "Most tokens to generate (default: 128); 0: until the context is full")
      ->type_name("N");
  command->add_flag("--ignore-stop", arguments->ignore_stop, "Go on after the model's stop ids");
  add_sampling(*command, *arguments);
  add_session_flags(*command, arguments->session);
  command->add_flag("--json", arguments->json, "Print one JSON object at the end instead of streaming");
  command->callback([arguments] { run_model(*arguments); });
}

}  // namespace mote::cli
