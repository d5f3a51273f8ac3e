// SPDX-License-Identifier: Apache-2.0
//
// mote eval: perplexity on a text, how far a file's predictions are from another's, exact answers to
// questions, labels and likeness of texts.
#include <limits>
#include <optional>

#include "host/base/error.h"
#include "host/base/timer.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/grammar_flags.h"
#include "tools/mote/host_model.h"
#include "tools/mote/ids.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct EvalArguments {
  std::string file, text, exact, other, accuracy, spearman;
  uint32_t window = 0;
  uint64_t limit = 0;
  bool ids = false, json = false, truncate = false;
  GrammarFlags grammar;
  SessionFlags session;
};

/// Returns a number of a result. One that is not finite is null there.
double number(const nlohmann::json& found, const char* key) {
  const nlohmann::json& value = found.at(key);
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

/// Asks for one measure of an input.
nlohmann::json evaluate(const EvalArguments& arguments, const HostModel& model, const HostModel* other,
                        const char* measure, const mote_host_input& input) {
  nlohmann::ordered_json options = {
      {measure, true}, {"limit", arguments.limit}, {"truncate", arguments.truncate}};
  if (std::string_view(measure) == "exact") add_grammar_options(arguments.grammar, options);
  if (arguments.window != 0) options["window"] = arguments.window;
  HostCalls calls;
  calls.on_progress = show_progress;
  const HostResult result = calls.take(mote_host_evaluate(
      model.get(), other == nullptr ? nullptr : other->get(), &input, text_of(options).c_str(), calls.get()));
  clear_progress();
  return result.json();
}

nlohmann::json evaluate_file(const EvalArguments& arguments, const HostModel& model, const char* measure,
                             const std::string& path) {
  const std::string text = read_text(path);
  mote_host_input input = text_input(text);
  input.path = path.c_str();
  return evaluate(arguments, model, nullptr, measure, input);
}

void require_tokenizer(const HostModel& model, const char* instead) {
  if (model.info().tokens == 0)
    convert::fail("{} has no tokenizer, so it cannot read a text; {}", model.path(), instead);
}

void eval_perplexity(const EvalArguments& arguments, const HostModel& model, const host::Timer& timer) {
  std::vector<int32_t> ids;
  std::string text;
  if (arguments.ids) {
    ids = read_ids(arguments.text);
  } else {
    require_tokenizer(model, "with --ids the text is a file of token ids");
    text = read_text(arguments.text);
  }
  mote_host_input input = arguments.ids ? ids_input(ids, nullptr) : text_input(text);
  input.path = arguments.text.c_str();
  std::optional<HostModel> other;
  if (!arguments.other.empty()) {
    other.emplace(arguments.other, arguments.session);
    other->begin();
  }
  nlohmann::json found = evaluate(arguments, model, other ? &*other : nullptr, "perplexity", input);
  const double seconds = timer.ms() / 1000.0;
  found["seconds"] = seconds;
  if (arguments.json) return print_json(found);
  print("perplexity {:.4f} over {} tokens, windows of {}, {:.1f} s\n", number(found, "perplexity"),
        found.at("tokens").get<uint64_t>(), found.at("window").get<uint32_t>(), seconds);
  if (!other) return;
  print("against {}: its perplexity {:.4f}, mean KL divergence {:.6f}, top-1 agreement {:.2f} %\n",
        arguments.other, number(found, "other_perplexity"), number(found, "mean_kl"),
        100.0 * number(found, "top1_agreement"));
}

void eval_exact(const EvalArguments& arguments, const HostModel& model, const host::Timer& timer) {
  require_tokenizer(model, "--exact takes one");
  nlohmann::json found = evaluate_file(arguments, model, "exact", arguments.exact);
  const double seconds = timer.ms() / 1000.0;
  found["seconds"] = seconds;
  if (arguments.json) return print_json(found);
  print("{} of {} answers equal, {:.2f} %, {:.1f} s\n", found.at("equal").get<uint64_t>(),
        found.at("questions").get<uint64_t>(), 100.0 * number(found, "accuracy"), seconds);
}

nlohmann::json evaluate_texts(const EvalArguments& arguments, const HostModel& model) {
  if (!arguments.accuracy.empty()) return evaluate_file(arguments, model, "accuracy", arguments.accuracy);
  try {
    return evaluate_file(arguments, model, "spearman", arguments.spearman);
  } catch (const HostFailure& failure) {
    if (failure.remedy() != MOTE_REMEDY_VECTORS) throw;
    convert::fail("--spearman takes a model that gives vectors");
  }
}

void eval_texts(const EvalArguments& arguments, const HostModel& model, const host::Timer& timer) {
  nlohmann::json found = evaluate_texts(arguments, model);
  const double seconds = timer.ms() / 1000.0;
  found["seconds"] = seconds;
  if (arguments.json) return print_json(found);
  if (found.contains("accuracy")) {
    print("{} of {} labels right, {:.2f} %, macro F1 {:.4f}", found.at("right").get<uint64_t>(),
          found.at("lines").get<uint64_t>(), 100 * number(found, "accuracy"), number(found, "macro_f1"));
  } else {
    print("Spearman {:.4f} over {} pairs", number(found, "spearman"), found.at("lines").get<uint64_t>());
  }
  print(", {:.1f} s\n", seconds);
}

void eval(const EvalArguments& arguments) {
  const host::Timer timer;
  if ((arguments.grammar.has_source() || arguments.grammar.table || !arguments.grammar.triggers.empty()) &&
      arguments.exact.empty())
    usage_fail("a grammar is for answers: --exact");
  check_grammar(arguments.grammar);
  HostModel model(arguments.file, arguments.session);
  model.refuse_source("eval");
  model.begin();
  if (!arguments.exact.empty()) return eval_exact(arguments, model, timer);
  if (!arguments.text.empty()) return eval_perplexity(arguments, model, timer);
  eval_texts(arguments, model, timer);
}

}  // namespace

void add_eval(CommandLine& line) {
  auto [command, arguments] =
      model_command(line, "eval", "Measure perplexity, exact answers or labels, and compare two files", eval);
  Command what = command.group("measure", "One of these", 1, 1);
  Option text = what.option("--perplexity", &arguments.text, "A text file to predict").type("TEXT");
  what.option("--exact", &arguments.exact, "Questions and answers, a tab between them, a pair a line")
      .type("TSV");
  what.option("--accuracy", &arguments.accuracy, "Texts and their labels, a tab between them, a pair a line")
      .type("TSV");
  what.option("--spearman", &arguments.spearman,
              "Two texts and how alike they are, tabs between them, a line each")
      .type("TSV");
  command.flag("--ids", &arguments.ids, "TEXT holds token ids, separated by white space").needs(text);
  command
      .option("--window", &arguments.window,
              "Tokens of a window; each starts afresh and all but its first token are scored (default: 512)")
      .type("W")
      .range(2u, UINT32_MAX);
  command.option("--limit", &arguments.limit, "Use the first tokens, or lines of TSV, only (default: all)")
      .type("N");
  command
      .option("--compare", &arguments.other,
              "Also measure how far FILE is from this one: mean KL(OTHER || FILE), share of equal top tokens")
      .type("OTHER");
  add_grammar_flags(command, arguments.grammar, true);
  add_session_flags(command, arguments.session);
  command.flag("--json", &arguments.json, "Print a JSON object");
  command.flag("--truncate", &arguments.truncate, "Cut texts that are too long instead of failing");
}

}  // namespace mote::cli
