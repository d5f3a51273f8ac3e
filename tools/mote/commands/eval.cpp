// SPDX-License-Identifier: Apache-2.0
//
// mote eval: perplexity on a text, how far a file's predictions are from another's, exact answers to
// questions, labels and likeness of texts.
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "host/base/error.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/ids.h"
#include "tools/mote/measure/eval_exact.h"
#include "tools/mote/measure/eval_texts.h"
#include "tools/mote/measure/timer.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/session.h"
#include "tools/mote/text.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct EvalArguments {
  std::string file, text, exact, other, accuracy, spearman;
  uint32_t window = 0;
  uint64_t limit = 0;
  bool ids = false, json = false, truncate = false;
  SessionFlags session;
};

/// Sums over the scored tokens.
struct Score {
  uint64_t tokens = 0, same_top = 0;
  double nll = 0, other_nll = 0, kl = 0;

  double mean(double sum) const { return sum / static_cast<double>(tokens); }
};

/// A file's session, its windows and the logits of the piece at hand.
struct Model {
  Model(const std::string& path, const EvalArguments& arguments, uint32_t window, const ThreadPool& pool)
      : file(path, arguments.session),
        options(options_for(file, arguments, window, pool)),
        session(file, options) {}

  static mote_session_options options_for(const ModelFile& file, const EvalArguments& arguments,
                                          uint32_t window, const ThreadPool& pool) {
    mote_session_options options = session_options(file, arguments.session, pool);
    if (arguments.session.context == 0) options.context = window;
    // All tokens have logits here: a row of the whole vocabulary each.
    if (arguments.session.chunk == 0) options.chunk = mote_session_options_default(file.model()).chunk;
    options.logit_rows = options.chunk;
    return options;
  }

  void begin_window() {
    mote_error error = {};
    check(mote_session_truncate(session.get(), 0, 0, &error), error, file.path());
  }

  void compute(const int32_t* ids, uint32_t n) {
    mote_error error = {};
    check(mote_prefill(session.get(), 0, ids, n, MOTE_LOGITS_ALL, &error), error, file.path());
  }

  const float* logits(uint32_t row) const { return mote_session_logits(session.get(), row); }

  ModelFile file;
  mote_session_options options;
  Session session;
};

/// log(sum(exp(logits))).
double log_sum(const float* logits, uint32_t vocab) {
  const double most = *std::max_element(logits, logits + vocab);
  double sum = 0;
  for (uint32_t i = 0; i < vocab; ++i) sum += std::exp(logits[i] - most);
  return most + std::log(sum);
}

/// KL(other || model) of the next token: sum of q log(q / p).
double divergence(const float* logits, double norm, const float* other, double other_norm, uint32_t vocab) {
  double sum = 0;
  for (uint32_t i = 0; i < vocab; ++i) {
    const double log_q = other[i] - other_norm;
    const double q = std::exp(log_q);
    if (q > 0) sum += q * (log_q - (logits[i] - norm));
  }
  return sum;
}

void score_row(const Model& model, const Model* other, uint32_t row, int32_t target, Score& score) {
  const uint32_t vocab = model.file.info().vocab;
  const float* logits = model.logits(row);
  const double norm = log_sum(logits, vocab);
  score.tokens += 1;
  score.nll += norm - logits[target];
  if (other == nullptr) return;
  const float* other_logits = other->logits(row);
  const double other_norm = log_sum(other_logits, vocab);
  score.other_nll += other_norm - other_logits[target];
  score.kl += divergence(logits, norm, other_logits, other_norm, vocab);
  score.same_top += std::max_element(logits, logits + vocab) - logits ==
                    std::max_element(other_logits, other_logits + vocab) - other_logits;
}

/// Each window starts from an empty session; every token but its first is scored by what came before it.
Score score_ids(const std::vector<int32_t>& ids, uint32_t window, Model& model, Model* other) {
  Score score;
  const uint32_t most = std::min(model.options.chunk, other == nullptr ? UINT32_MAX : other->options.chunk);
  for (size_t begin = 0; begin + 1 < ids.size(); begin += window) {
    const auto length = static_cast<uint32_t>(std::min<size_t>(window, ids.size() - begin));
    model.begin_window();
    if (other != nullptr) other->begin_window();
    // The last token only has to be predicted.
    for (uint32_t at = 0; at + 1 < length;) {
      show_progress("perplexity", static_cast<double>(begin + at) / static_cast<double>(ids.size()));
      const uint32_t n = std::min(most, length - 1 - at);
      model.compute(ids.data() + begin + at, n);
      if (other != nullptr) other->compute(ids.data() + begin + at, n);
      for (uint32_t row = 0; row < n; ++row) score_row(model, other, row, ids[begin + at + row + 1], score);
      at += n;
    }
    if (!std::isfinite(score.nll) || !std::isfinite(score.other_nll)) {
      convert::fail(
          "{}: logits that are not finite in the window at token {}; the weights may be damaged (mote "
          "verify)",
          std::isfinite(score.nll) ? other->file.path() : model.file.path(), begin);
    }
  }
  clear_progress();
  return score;
}

std::vector<int32_t> text_ids(const EvalArguments& arguments, const Model& model) {
  const ModelFile& file = model.file;
  std::vector<int32_t> ids;
  if (arguments.ids) {
    ids = read_ids(arguments.text);
  } else {
    require_tokenizer(file, "with --ids the text is a file of token ids");
    ids = tokenize(file, model.session, read_text(arguments.text), 0);
  }
  if (arguments.limit != 0 && ids.size() > arguments.limit) ids.resize(arguments.limit);
  if (ids.size() < 2) convert::fail("{}: {} tokens; it takes at least 2", arguments.text, ids.size());
  check_ids(ids, file, arguments.text);
  return ids;
}

void print_score(const EvalArguments& arguments, uint32_t window, const Score& score, double seconds) {
  const double perplexity = std::exp(score.mean(score.nll));
  const bool compared = !arguments.other.empty();
  const double kl = score.mean(score.kl);
  const double agreement = score.mean(static_cast<double>(score.same_top));
  const double other_perplexity = std::exp(score.mean(score.other_nll));
  if (arguments.json) {
    nlohmann::json json = {
        {"perplexity", perplexity}, {"tokens", score.tokens}, {"window", window}, {"seconds", seconds}};
    if (compared) {
      json["other_perplexity"] = other_perplexity;
      json["mean_kl"] = kl;
      json["top1_agreement"] = agreement;
    }
    return print_json(json);
  }
  print("perplexity {:.4f} over {} tokens, windows of {}, {:.1f} s\n", perplexity, score.tokens, window,
        seconds);
  if (!compared) return;
  print("against {}: its perplexity {:.4f}, mean KL divergence {:.6f}, top-1 agreement {:.2f} %\n",
        arguments.other, other_perplexity, kl, 100.0 * agreement);
}

void eval_perplexity(const EvalArguments& arguments) {
  Timer timer;
  const ModelFile file(arguments.file);
  refuse_source(file, "eval");
  const ThreadPool pool(file, arguments.session);
  const uint32_t window = arguments.window != 0 ? arguments.window : std::min(512u, file.info().context);
  Model model(arguments.file, arguments, window, pool);
  const std::vector<int32_t> ids = text_ids(arguments, model);
  std::optional<Model> other;
  if (!arguments.other.empty()) {
    other.emplace(arguments.other, arguments, window, pool);
    if (other->file.info().vocab != model.file.info().vocab) {
      convert::fail("{} has a vocabulary of {} and {} one of {}; they cannot be compared", arguments.file,
                    model.file.info().vocab, arguments.other, other->file.info().vocab);
    }
  }
  const Score score = score_ids(ids, window, model, other ? &*other : nullptr);
  print_score(arguments, window, score, timer.ms() / 1000.0);
}

void eval_exact(const EvalArguments& arguments) {
  Timer timer;
  const ModelFile file(arguments.file, arguments.session);
  refuse_source(file, "eval");
  const ThreadPool pool(file, arguments.session);
  Session session(file, session_options(file, arguments.session, pool));
  const ExactScore score = score_exact(file, session, arguments.exact, arguments.limit);
  const double seconds = timer.ms() / 1000.0;
  if (arguments.json) {
    return print_json({{"accuracy", score.accuracy()},
                       {"equal", score.equal},
                       {"questions", score.questions},
                       {"seconds", seconds}});
  }
  print("{} of {} answers equal, {:.2f} %, {:.1f} s\n", score.equal, score.questions,
        100.0 * score.accuracy(), seconds);
}

void eval_texts(const EvalArguments& arguments) {
  Timer timer;
  const ModelFile file(arguments.file, arguments.session);
  refuse_source(file, "eval");
  const ThreadPool pool(file, arguments.session);
  TextEncoder encoder(file, arguments.session, pool, arguments.truncate);
  nlohmann::json result;
  if (!arguments.accuracy.empty()) {
    const LabelScore score = score_labels(file, encoder, arguments.accuracy, arguments.limit);
    result = {{"accuracy", score.accuracy()},
              {"right", score.right},
              {"lines", score.lines},
              {"f1", score.f1},
              {"macro_f1", score.macro_f1}};
    if (!arguments.json) {
      print("{} of {} labels right, {:.2f} %, macro F1 {:.4f}", score.right, score.lines,
            100 * score.accuracy(), score.macro_f1);
    }
  } else {
    const PairScore score = score_pairs(encoder, arguments.spearman, arguments.limit);
    result = {{"spearman", score.spearman}, {"lines", score.lines}};
    if (!arguments.json) print("Spearman {:.4f} over {} pairs", score.spearman, score.lines);
  }
  const double seconds = timer.ms() / 1000.0;
  result["seconds"] = seconds;
  arguments.json ? print_json(result) : print(", {:.1f} s\n", seconds);
}

void eval(const EvalArguments& arguments) {
  if (!arguments.exact.empty()) return eval_exact(arguments);
  if (!arguments.text.empty()) return eval_perplexity(arguments);
  eval_texts(arguments);
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
  add_session_flags(command, arguments.session);
  command.flag("--json", &arguments.json, "Print a JSON object");
  command.flag("--truncate", &arguments.truncate, "Cut texts that are too long instead of failing");
}

}  // namespace mote::cli
