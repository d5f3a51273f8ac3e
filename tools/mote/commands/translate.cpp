// SPDX-License-Identifier: Apache-2.0
//
// mote translate and mote summarize: what a model generates over a text, or over each line of one.
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "host/base/system.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/host_model.h"
#include "tools/mote/ids.h"
#include "tools/mote/output.h"
#include "tools/mote/speculation_flags.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct TranslateArguments {
  std::string file, lines = "-";
  std::optional<std::string> prompt, ids;
  std::string from, to;
  std::optional<uint32_t> beams, tokens;
  bool json = false, summarizes = false;
  SpeculationFlags speculation;
  SessionFlags session;
};

/// Each line of a file is a text; an empty line stays one. A summary is of all lines together.
void each_text(const TranslateArguments& arguments, const std::function<void(const std::string&)>& use) {
  if (arguments.prompt) return use(*arguments.prompt);
  if (arguments.lines == "-" && convert::is_terminal(convert::Stream::input))
    usage_fail("no text; give one with -p TEXT, --file FILE or on standard input");
  if (arguments.summarizes) return use(read_text(arguments.lines));
  const std::string all = read_text(arguments.lines);
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find('\n', at), all.size());
    const bool returns = end > at && all[end - 1] == '\r';
    use(all.substr(at, end - at - (returns ? 1 : 0)));
    at = end + 1;
  }
}

std::string options_of(const TranslateArguments& arguments, bool of_ids) {
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  add_speculation_options(arguments.speculation, options);
  if (arguments.beams) options["beams"] = *arguments.beams;
  if (arguments.tokens) options["tokens"] = *arguments.tokens;
  if (!of_ids && !arguments.from.empty()) options["from"] = arguments.from;
  if (!of_ids && !arguments.to.empty()) options["to"] = arguments.to;
  return options.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Generates over inputs. None: begins what the calls to come go on with.
HostResult generate_over(HostModel& model, const TranslateArguments& arguments,
                         std::span<const mote_host_input> inputs, const std::string& options,
                         HostCalls& calls) {
  const auto call = arguments.summarizes && !arguments.ids ? mote_host_summarize : mote_host_translate;
  return calls.take(call(model.get(), inputs.data(), inputs.size(), options.c_str(), calls.get()));
}

std::vector<int32_t> best_of(const HostResult& result) {
  return result.json().at(0).at("hypotheses").at(0).at("ids").get<std::vector<int32_t>>();
}

void print_hypotheses(const HostResult& result, const TranslateArguments& arguments) {
  nlohmann::json found = result.json().at(0);
  found.erase("text");
  if (!arguments.speculation.given()) found.erase("speculation");
  print_json(found);
}

void translate(const TranslateArguments& arguments) {
  if (arguments.ids && (!arguments.from.empty() || !arguments.to.empty()))
    usage_fail("--from and --to add tokens of languages to a text; with --ids, give theirs among the ids");
  HostModel model(arguments.file, arguments.session);
  model.begin();
  const std::string options = options_of(arguments, arguments.ids.has_value());
  HostCalls calls;
  bool told = false;
  const auto tell = [&](const HostResult& found) {
    if (!std::exchange(told, true)) tell_no_guesses(arguments.speculation, found.json().at(0));
  };
  if (arguments.ids) {
    const std::vector<int32_t> source = given_ids(*arguments.ids);
    const mote_host_input input = ids_input(source, "--ids");
    const HostResult found = generate_over(model, arguments, {&input, 1}, options, calls);
    tell(found);
    if (arguments.json) return print_hypotheses(found, arguments);
    return cli::print("{}\n", fmt::join(best_of(found), ","));
  }
  generate_over(model, arguments, {}, options, calls);
  if (!arguments.json) calls.on_text = [](std::string_view text, int32_t) { print("{}\n", text); };
  each_text(arguments, [&](const std::string& text) {
    const bool blank = trimmed(text).empty();
    if (blank && (arguments.prompt || arguments.summarizes)) convert::fail("the text is empty");
    if (blank && !arguments.json) return print("\n");
    const mote_host_input input = text_input(text);
    const HostResult found = generate_over(model, arguments, {&input, 1}, options, calls);
    tell(found);
    if (arguments.json) print_hypotheses(found, arguments);
    flush_output();
  });
}

Command add_generating(CommandLine& line, const char* name, const char* help, const char* text_help,
                       const std::shared_ptr<TranslateArguments>& arguments) {
  Command command = line.command(name, help);
  add_model_argument(command, arguments->file);
  Option prompt = command.option("-p,--prompt", &arguments->prompt, "The text").type("TEXT");
  Option lines = command.option("--file", &arguments->lines, text_help).type("FILE");
  lines.excludes(prompt);
  command.option("--ids", &arguments->ids, "Token ids of a source, for models without text; prints ids")
      .type("IDS")
      .excludes(prompt)
      .excludes(lines);
  command.option("--beams", &arguments->beams, "Beams of the search; 1: greedy (default: the model's own)")
      .type("K")
      .range(1u, 256u);
  command
      .option("-n,--tokens", &arguments->tokens,
              "Tokens at most (default: the model's own, else its context)")
      .type("N")
      .range(1u, 1u << 24);
  command.flag("--json", &arguments->json,
               "Print an object for each text with all hypotheses and their scores");
  add_speculation_flags(command, arguments->speculation, false);
  add_session_flags(command, arguments->session);
  command.callback([arguments] { translate(*arguments); });
  return command;
}

}  // namespace

void add_translate(CommandLine& line) {
  auto arguments = std::make_shared<TranslateArguments>();
  Command command =
      add_generating(line, "translate", "Translate a text, or each line of one, with an encoder-decoder",
                     "A text file, a text a line (default: standard input)", arguments);
  command.option("--from", &arguments->from, "The language of the text, for models that have several")
      .type("XX");
  command.option("--to", &arguments->to, "The language to translate into, for models that have several")
      .type("YY");
}

void add_summarize(CommandLine& line) {
  auto arguments = std::make_shared<TranslateArguments>();
  arguments->summarizes = true;
  add_generating(line, "summarize", "Summarize a text with an encoder-decoder",
                 "A text file (default: standard input)", arguments);
}

}  // namespace mote::cli
