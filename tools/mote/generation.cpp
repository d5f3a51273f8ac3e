// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/generation.h"

#include <fmt/format.h>

#include <optional>

#include "tools/mote/arguments.h"
#include "tools/mote/measure/timer.h"
#include "tools/mote/signals.h"
#include "tools/mote/steps.h"
#include "tools/mote/stop_text.h"
#include "tools/mote/text.h"

namespace mote::cli {
namespace {

bool has_rules(const mote_token_rules& rules) {
  const bool penalizes = rules.repetition_penalty != 0 && rules.repetition_penalty != 1;
  const uint32_t counts = rules.no_repeat_ngram | rules.shortest | rules.min_tokens | rules.forbidden_count |
                          rules.suppressed_count | rules.first_suppressed_count;
  return penalizes || counts != 0;
}

mote_generation options_of(const GenerationFlags& flags) {
  mote_generation generation = mote_generation_default();
  generation.sampling = flags.sampling;
  generation.max_tokens = flags.tokens;
  generation.ignore_model_stops = flags.ignore_stop;
  if (has_rules(flags.rules)) generation.rules = &flags.rules;
  return generation;
}

bool is_stop(const ModelFile& file, int32_t id) {
  for (uint32_t i = 0; i < file.info().stop_count; ++i) {
    if (file.info().stop_ids[i] == id) return true;
  }
  return false;
}

/// Text of ids, held back while it may be the beginning of a stop text.
class AnswerText {
 public:
  AnswerText(const ModelFile& file, const GenerationFlags& flags) : stop_(flags.stop_texts) {
    if (file.info().tokens != 0) stream_.emplace(file, MOTE_SKIP_SPECIAL | MOTE_KEEP_LEADING_SPACE);
  }
  std::string next(int32_t id) { return stream_ ? stop_.next(stream_->next(id)) : ""; }
  std::string finish() { return stream_ ? stop_.next(stream_->finish()) + stop_.finish() : ""; }
  bool stopped() const { return stop_.stopped(); }

 private:
  std::optional<TextStream> stream_;
  StopText stop_;
};

}  // namespace

double Answer::prompt_per_s(size_t prompt) const {
  return per_second(static_cast<double>(prompt), prompt_ms);
}
double Answer::decode_per_s() const {
  return ids.size() < 2 ? 0.0 : per_second(static_cast<double>(ids.size() - 1), decode_ms);
}

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

Answer generate(const ModelFile& file, Session& session, const std::vector<int32_t>& prompt,
                const GenerationFlags& flags, const OnToken& on_token) {
  Answer answer;
  AnswerText text(file, flags);
  const mote_generation options = options_of(flags);
  mote_error error = {};
  StepSize size;
  Timer timer;
  check(mote_generation_begin(session.get(), prompt.data(), static_cast<uint32_t>(prompt.size()), &options,
                              &error),
        error, "run");
  const auto emit = [&](int32_t id, const std::string& part) {
    answer.text += part;
    on_token(id, part);
  };
  while (answer.finish == MOTE_FINISH_NONE) {
    if (InterruptGuard::interrupted()) {
      answer.finish = MOTE_FINISH_CANCELLED;
      break;
    }
    mote_event event = {};
    Timer step;
    check(mote_session_step(session.get(), size.operations(), &event, &error), error, "run");
    size.took(step.ms());
    if (event.has_token == 0) continue;
    answer.finish = event.finish;
    if (answer.ids.empty()) answer.prompt_ms = timer.restart();
    answer.ids.push_back(event.id);
    const bool ends = event.finish == MOTE_FINISH_STOP && is_stop(file, event.id);
    emit(event.id, ends ? "" : text.next(event.id));
    if (answer.finish == MOTE_FINISH_NONE && text.stopped()) answer.finish = MOTE_FINISH_STOP;
  }
  (answer.ids.empty() ? answer.prompt_ms : answer.decode_ms) = timer.ms();
  const std::string rest = text.finish();
  if (!rest.empty()) emit(answer.ids.back(), rest);
  return answer;
}

std::string take_model_defaults(const ModelFile& file, bool samples, GenerationFlags& flags) {
  std::string taken;
  const auto say = [&](bool is_so, const char* name, double value) {
    if (is_so) taken += fmt::format("{}{} {:.4g}", taken.empty() ? "" : ", ", name, value);
  };
  const mote_sampling own = mote_model_sampling(file.model());
  const bool unsaid = !flags.temperature->given() && !flags.greedy;
  if (samples && own.temperature != 0 && (unsaid || flags.sampling.temperature != 0)) {
    const auto take = [&](const Option& option, auto& value, auto from, bool does, const char* name) {
      if (option.given()) return;
      value = from;
      say(does, name, static_cast<double>(from));
    };
    take(*flags.temperature, flags.sampling.temperature, own.temperature, true, "temperature");
    take(*flags.top_k, flags.sampling.top_k, own.top_k, own.top_k != 0, "top_k");
    take(*flags.top_p, flags.sampling.top_p, own.top_p, own.top_p != 1, "top_p");
    take(*flags.min_p, flags.sampling.min_p, own.min_p, own.min_p != 0, "min_p");
  }
  flags.rules = mote_model_token_rules(file.model());
  if (flags.penalty->given()) flags.rules.repetition_penalty = 0;
  const mote_token_rules& rules = flags.rules;
  say(rules.repetition_penalty != 0 && rules.repetition_penalty != 1, "repetition_penalty",
      static_cast<double>(rules.repetition_penalty));
  say(rules.no_repeat_ngram != 0, "no_repeat_ngram_size", rules.no_repeat_ngram);
  say(rules.shortest != 0, "min_length", rules.shortest);
  say(rules.min_tokens != 0, "min_new_tokens", rules.min_tokens);
  const uint32_t barred = rules.forbidden_count + rules.suppressed_count + rules.first_suppressed_count;
  if (barred != 0) taken += fmt::format("{}tokens that are never chosen", taken.empty() ? "" : ", ");
  return taken;
}

void add_generation_flags(Command command, GenerationFlags& flags, uint32_t tokens) {
  flags.tokens = tokens;
  flags.sampling = mote_sampling_default();
  flags.sampling.repetition_window = MOTE_REPETITION_WINDOW;
  mote_sampling& sampling = flags.sampling;
  command
      .option("-n,--tokens", &flags.tokens,
              fmt::format("Most tokens to generate (default: {}); 0: until the context is full", tokens))
      .type("N");
  Option greedy = command.flag("--greedy", &flags.greedy, "Always the likeliest token (the default)");
  Option temperature =
      command.option("--temp", &sampling.temperature, "Sample at this temperature; 0 is greedy")
          .type("T")
          .range(0.0f, 1000.0f)
          .excludes(greedy);
  flags.temperature = temperature;
  flags.top_k = command.option("--top-k", &sampling.top_k, "Sample of the K likeliest tokens; 0: of all")
                    .type("K")
                    .needs(temperature);
  flags.top_p =
      command
          .option("--top-p", &sampling.top_p, "Sample of the likeliest tokens that make up this probability")
          .type("P")
          .above_zero(1.0f)
          .needs(temperature);
  flags.min_p =
      command
          .option("--min-p", &sampling.min_p, "Sample of tokens at least P times as likely as the likeliest")
          .type("P")
          .range(0.0f, 1.0f)
          .needs(temperature);
  command.option("--seed", &sampling.seed, "Seed of the random numbers (default: 0)")
      .type("N")
      .needs(temperature);
  flags.penalty =
      command
          .option("--repeat-penalty", &sampling.repetition_penalty,
                  "Make the last 256 tokens less likely (default: as the model's authors do); 1 does not")
          .type("X")
          .range(0.01f, 100.0f);
  command.option("--stop", &flags.stop_texts, "End the answer before this text; may be given again")
      .type("TEXT");
  command.flag("--ignore-stop", &flags.ignore_stop, "Go on after the model's stop ids");
}

void add_context_full_flag(Command command, std::string& what, const std::string& forgotten) {
  command
      .option("--context-full", &what,
              fmt::format("When the context is full: stop, or slide, which forgets {} (default: {})",
                          forgotten, what))
      .type("WHAT")
      .one_of({"stop", "slide"});
}

}  // namespace mote::cli
