// SPDX-License-Identifier: Apache-2.0
//
// mote translate and mote summarize: what a model generates over a text, or over each line of one.
#include <unistd.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "host/base/error.h"
#include "host/tasks/text.h"
#include "host/tasks/translation.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/ids.h"
#include "tools/mote/measure/eval_texts.h"
#include "tools/mote/output.h"
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
  SessionFlags session;
};

void print_hypotheses(const host::Translator& translator, const std::vector<host::SourceHypothesis>& found,
                      bool texts, const TranslateArguments& arguments, const std::vector<int32_t>& source) {
  if (arguments.json) {
    nlohmann::json hypotheses = nlohmann::json::array();
    for (const host::SourceHypothesis& one : found) {
      nlohmann::json object = {{"ids", one.ids}, {"score", one.score}};
      if (texts) object["text"] = take(translator.text_of(one.ids));
      hypotheses.push_back(std::move(object));
    }
    return print_json({{"source_ids", source}, {"hypotheses", hypotheses}});
  }
  if (texts) return print("{}\n", take(translator.text_of(found[0].ids)));
  cli::print("{}\n", fmt::join(found[0].ids, ","));
}

/// Each line of a file is a text; an empty line stays one. A summary is of all lines together.
void each_text(const TranslateArguments& arguments, const std::function<void(const std::string&)>& use) {
  if (arguments.prompt) return use(*arguments.prompt);
  if (arguments.lines == "-" && isatty(STDIN_FILENO) != 0)
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

host::Translator translator_of(const ModelFile& file, const TranslateArguments& arguments,
                               const ThreadPool& pool, bool texts) {
  host::TranslateOptions options{"", "", false, arguments.beams, arguments.tokens};
  if (texts) {
    check(host::require_tokenizer(file.host(), host::Remedy::give_ids));
    options.from = arguments.from;
    options.to = arguments.to;
    options.summarizes = arguments.summarizes;
  }
  return take(host::Translator::make(file.host(), session_choices(file, arguments.session, pool), options));
}

void translate(const TranslateArguments& arguments) {
  const ModelFile file(arguments.file, arguments.session);
  const ThreadPool pool(file, arguments.session);
  const auto search = [&](host::Translator& translator, const std::vector<int32_t>& source, bool texts) {
    print_hypotheses(translator, take(translator.search(source, hooks())), texts, arguments, source);
  };
  if (arguments.ids) {
    const std::vector<int32_t> source = given_ids(*arguments.ids);
    host::Translator translator = translator_of(file, arguments, pool, false);
    return search(translator, source, false);
  }
  host::Translator translator = translator_of(file, arguments, pool, true);
  each_text(arguments, [&](const std::string& text) {
    if (host::is_blank(text) && !arguments.prompt && !arguments.summarizes) {
      return arguments.json ? print_json({{"source_ids", nlohmann::json::array()},
                                          {"hypotheses", nlohmann::json::array()}})
                            : print("\n");
    }
    search(translator, take(translator.source_of(text)), true);
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
