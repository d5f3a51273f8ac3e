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
#include "mote/beams.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/ids.h"
#include "tools/mote/measure/eval_texts.h"
#include "tools/mote/output.h"
#include "tools/mote/source_search.h"
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

mote_beam_options search_options(const ModelFile& file, const TranslateArguments& arguments) {
  mote_beam_options options = mote_model_beam_options(file.model());
  if (arguments.beams) {
    options.beams = *arguments.beams;
    if (options.beams == 1) options.early_stopping = MOTE_STOP_EARLY;
  }
  if (arguments.tokens) options.max_tokens = *arguments.tokens;
  return options;
}

/// What T5's authors put before a text, by the name of its task.
std::optional<std::string> task_prefix(const ModelFile& file, const std::string& task) {
  const char* name = nullptr;
  for (uint32_t i = 0; const char* text = mote_model_prompt(file.model(), i, &name); ++i) {
    if (task == name) return text;
  }
  return std::nullopt;
}

/// How the languages change a source and its search: by a prefix, or by tokens.
class Languages {
 public:
  Languages(const ModelFile& file, const TranslateArguments& arguments, mote_beam_options& options) {
    if (arguments.summarizes) {
      prefix_ = task_prefix(file, "summarization").value_or("");
      return;
    }
    if (const auto prefix = task_prefix(file, "translation_" + arguments.from + "_to_" + arguments.to)) {
      prefix_ = *prefix;
      return;
    }
    if (!arguments.from.empty()) from_ = language_token(file, arguments.from);
    if (arguments.to.empty()) return;
    const int32_t to = language_token(file, arguments.to);
    size_t bytes = 0;
    const char* const text = mote_token_text(file.model(), to, &bytes);
    if (std::string_view(text, bytes).starts_with(">>")) {
      before_ = to;
    } else {
      options.forced_first_id = to;
    }
  }

  const std::string& prefix() const { return prefix_; }

  /// A text may name Marian's target itself.
  static void check(const ModelFile& file, const std::string& text) {
    const bool named = file.info().architecture == std::string_view("marian") && text.starts_with(">>");
    const size_t end = named ? text.find("<<") : std::string::npos;
    if (end != std::string::npos) language_token(file, text.substr(0, end + 2));
  }

  /// Marian's target stands before the source; others have the source's language at an end of it.
  void mark(const ModelFile& file, std::vector<int32_t>& ids) const {
    if (before_ >= 0) ids.insert(ids.begin(), before_);
    if (from_ < 0) return;
    const auto found =
        std::find_if(ids.begin(), ids.end(), [&](int32_t id) { return is_language_token(file, id); });
    if (found == ids.end()) {
      ids.insert(ids.begin(), from_);
    } else {
      *found = from_;
    }
  }

 private:
  std::string prefix_;
  int32_t before_ = -1, from_ = -1;
};

void print_hypotheses(const SourceSearch& search, const std::vector<SourceHypothesis>& found, bool texts,
                      const TranslateArguments& arguments, const std::vector<int32_t>& source) {
  if (arguments.json) {
    nlohmann::json hypotheses = nlohmann::json::array();
    for (const SourceHypothesis& one : found) {
      nlohmann::json object = {{"ids", one.ids}, {"score", one.score}};
      if (texts) object["text"] = search.text_of(one.ids);
      hypotheses.push_back(std::move(object));
    }
    return print_json({{"source_ids", source}, {"hypotheses", hypotheses}});
  }
  if (texts) return print("{}\n", search.text_of(found[0].ids));
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

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; }

void translate(const TranslateArguments& arguments) {
  const ModelFile file(arguments.file, arguments.session);
  const ThreadPool pool(file, arguments.session);
  mote_beam_options options = search_options(file, arguments);
  if (arguments.ids) {
    const std::vector<int32_t> source = given_ids(*arguments.ids);
    SourceSearch search(file, arguments.session, pool, options);
    return print_hypotheses(search, search.search(source), false, arguments, source);
  }
  require_tokenizer(file, "give token ids with --ids 1,2,3 instead");
  const Languages languages(file, arguments, options);
  SourceSearch search(file, arguments.session, pool, options);
  each_text(arguments, [&](const std::string& text) {
    if (is_blank(text)) {
      if (arguments.prompt || arguments.summarizes) convert::fail("the text is empty");
      return arguments.json ? print_json({{"source_ids", nlohmann::json::array()},
                                          {"hypotheses", nlohmann::json::array()}})
                            : print("\n");
    }
    languages.check(file, text);
    std::vector<int32_t> source = search.tokenize(languages.prefix() + text);
    languages.mark(file, source);
    print_hypotheses(search, search.search(source), true, arguments, source);
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
