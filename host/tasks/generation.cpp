// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/generation.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/forced_guesses.h"
#include "host/tasks/stop_text.h"
#include "host/tasks/text.h"

namespace mote::host {
namespace {

bool has_rules(const mote_token_rules& rules) {
  const bool penalizes = rules.repetition_penalty != 0 && rules.repetition_penalty != 1;
  const uint32_t counts = rules.no_repeat_ngram | rules.shortest | rules.min_tokens | rules.forbidden_count |
                          rules.suppressed_count | rules.first_suppressed_count;
  return penalizes || counts != 0;
}

/// The guesses of a generation and their counts; none where they are off or the session cannot have them.
class Guesses {
 public:
  static Result<Guesses> begin(Session& session, const SpeculationOptions& options) {
    Guesses guesses;
    if (options.mode == Speculate::off) {
      guesses.why_none_ = "switched off";
      return guesses;
    }
    if (const char* hindrance = mote_speculation_hindrance(session.get()); hindrance != nullptr) {
      guesses.why_none_ = hindrance;
      return guesses;
    }
    MOTE_TAKE(guesses.speculation_, session.speculation(options));
    guesses.before_ = guesses.speculation_->counts();
    return guesses;
  }
  mote_speculation* get() const { return speculation_ == nullptr ? nullptr : speculation_->get(); }
  void reported(double ms) const {
    if (speculation_ != nullptr) speculation_->reported(ms);
  }
  /// Makes guesses of what follows a token, if a run is to compute it: what the constraint forces, else what
  /// the draft finds. The run looks up others itself.
  Status guess_behind(const Model& model, const Session& session, const GenerationPlan& plan,
                      const AnswerConstraint* constraint, int32_t id, const Hooks& hooks) {
    if (speculation_ == nullptr) return {};
    const bool automatic = speculation_->options().mode == Speculate::automatic;
    const bool forces = automatic && constraint != nullptr && model.has_tokenizer();
    if (forces) forced_.said(model.token_text(id));
    if (!speculation_->runs_next()) return {};
    if (forces) {
      MOTE_TAKE(const std::vector<int32_t> ids, forced_.next(model, session, *constraint->get()->matcher));
      MOTE_TAKE(const uint32_t offered, speculation_->offer_forced(ids));
      if (offered != 0) return {};
    }
    if (plan.draft == nullptr) return {};
    const uint32_t wanted = speculation_->drafts_wanted(session, id, plan.draft->guess_ms());
    MOTE_TAKE(const std::span<const int32_t> drafted, plan.draft->next(session, id, wanted, hooks));
    return speculation_->offer_drafted(drafted);
  }
  void count(Answer& answer) const {
    answer.no_guesses = why_none_;
    if (speculation_ == nullptr) return;
    const mote_speculation_counts now = speculation_->counts();
    answer.guesses.runs = now.runs - before_.runs;
    answer.guesses.rows = now.rows - before_.rows;
    answer.guesses.guessed = now.guessed - before_.guessed;
    answer.guesses.stood = now.stood - before_.stood;
  }

 private:
  Speculation* speculation_ = nullptr;
  ForcedGuesses forced_;
  mote_speculation_counts before_ = {};
  std::string why_none_;
};

/// Text of ids, held back while it may be the beginning of a stop text.
class AnswerText {
 public:
  static Result<AnswerText> start(const Model& model, const std::vector<std::string>& stops) {
    AnswerText text{StopText(stops)};
    if (!model.has_tokenizer()) return text;
    MOTE_TAKE(text.stream_, TextStream::start(model, MOTE_SKIP_SPECIAL | MOTE_KEEP_LEADING_SPACE));
    return text;
  }
  Result<std::string> next(int32_t id) {
    if (!stream_) return std::string();
    MOTE_TAKE(const std::string text, stream_->next(id));
    return stop_.next(text);
  }
  Result<std::string> finish() {
    if (!stream_) return std::string();
    MOTE_TAKE(const std::string text, stream_->finish());
    std::string said = stop_.next(text);
    return said + stop_.finish();
  }
  bool stopped() const { return stop_.stopped(); }

 private:
  explicit AnswerText(StopText stop) : stop_(std::move(stop)) {}

  std::optional<TextStream> stream_;
  StopText stop_;
};

/// Collects "name 0.6, name 2" of what was taken from a model.
class Said {
 public:
  void add(const char* name, double value) {
    char text[32];
    std::snprintf(text, sizeof text, " %.4g", value);
    add(std::string(name) + text);
  }
  void add(const std::string& words) { text_ += (text_.empty() ? "" : ", ") + words; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// Samples as the model's authors do where the options leave it open.
void take_sampling(const mote_sampling& own, const GenerationOptions& options, mote_sampling& sampling,
                   Said& said) {
  const auto take = [&](bool given, auto& value, auto from, bool does, const char* name) {
    if (given) return;
    value = from;
    if (does) said.add(name, static_cast<double>(from));
  };
  take(options.temperature.has_value(), sampling.temperature, own.temperature, true, "temperature");
  take(options.top_k.has_value(), sampling.top_k, own.top_k, own.top_k != 0, "top_k");
  take(options.top_p.has_value(), sampling.top_p, own.top_p, own.top_p != 1, "top_p");
  take(options.min_p.has_value(), sampling.min_p, own.min_p, own.min_p != 0, "min_p");
}

void say_rules(const mote_token_rules& rules, Said& said) {
  if (rules.repetition_penalty != 0 && rules.repetition_penalty != 1)
    said.add("repetition_penalty", static_cast<double>(rules.repetition_penalty));
  if (rules.no_repeat_ngram != 0) said.add("no_repeat_ngram_size", rules.no_repeat_ngram);
  if (rules.shortest != 0) said.add("min_length", rules.shortest);
  if (rules.min_tokens != 0) said.add("min_new_tokens", rules.min_tokens);
  if (rules.forbidden_count + rules.suppressed_count + rules.first_suppressed_count != 0)
    said.add("tokens that are never chosen");
}

}  // namespace

GenerationPlan plan_generation(const Model& model, const GenerationOptions& options, bool samples) {
  GenerationPlan plan{mote_generation_default(), mote_model_token_rules(model.get()), options.stop_texts,
                      options.speculation, ""};
  plan.generation.max_tokens = options.tokens;
  plan.generation.ignore_model_stops = options.ignore_stop;
  mote_sampling& sampling = plan.generation.sampling;
  sampling = mote_sampling_default();
  sampling.repetition_window = MOTE_REPETITION_WINDOW;
  sampling.temperature = options.temperature.value_or(sampling.temperature);
  sampling.top_k = options.top_k.value_or(sampling.top_k);
  sampling.top_p = options.top_p.value_or(sampling.top_p);
  sampling.min_p = options.min_p.value_or(sampling.min_p);
  sampling.seed = options.seed;
  Said said;
  const mote_sampling own = mote_model_sampling(model.get());
  const bool unsaid = !options.temperature && !options.greedy;
  if (samples && own.temperature != 0 && (unsaid || sampling.temperature != 0))
    take_sampling(own, options, sampling, said);
  if (options.repetition_penalty) {
    sampling.repetition_penalty = *options.repetition_penalty;
    plan.rules.repetition_penalty = 0;
  }
  say_rules(plan.rules, said);
  plan.defaults = said.take();
  return plan;
}

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

Result<Answer> generate(const Model& model, Session& session, std::span<const int32_t> prompt,
                        const GenerationPlan& plan, const Hooks& hooks, const OnToken& on_token,
                        std::shared_ptr<AnswerConstraint> constraint) {
  Answer answer;
  size_t healed = constraint == nullptr ? plan.grammar.healed.size() : 0;
  if (constraint == nullptr && plan.grammar.tables != nullptr) {
    MOTE_TAKE(constraint, AnswerConstraint::begin(plan.grammar));
    if (plan.slides) constraint->slide();
  }
  answer.constraint = constraint;
  MOTE_TAKE(AnswerText text, AnswerText::start(model, plan.stop_texts));
  mote_generation options = plan.generation;
  options.rules = has_rules(plan.rules) ? &plan.rules : nullptr;
  MOTE_TAKE(Guesses guesses, Guesses::begin(session, plan.speculation));
  options.guesses = guesses.get();
  options.constraint = constraint == nullptr ? nullptr : constraint->get();
  mote_error error = {};
  StepSize size;
  Timer timer, token;
  MOTE_TRY(from_core(mote_generation_begin(session.get(), prompt.data(), static_cast<uint32_t>(prompt.size()),
                                           &options, &error),
                     error, "run"));
  const auto emit = [&](int32_t id, const std::string& said) {
    const size_t known = std::min(healed, said.size());
    healed -= known;
    const std::string part = said.substr(known);
    answer.text += part;
    if (on_token) on_token(id, part);
  };
  while (answer.finish == MOTE_FINISH_NONE) {
    if (hooks.stopped()) {
      answer.finish = MOTE_FINISH_CANCELLED;
      break;
    }
    mote_event event = {};
    const Timer step;
    MOTE_TRY(from_core(mote_session_step(session.get(), size.operations(), &event, &error), error, "run"));
    size.took(step.ms());
    if (event.has_token == 0) continue;
    guesses.reported(token.restart());
    answer.finish = event.finish;
    if (event.finish == MOTE_FINISH_NONE)
      MOTE_TRY(guesses.guess_behind(model, session, plan, constraint.get(), event.id, hooks));
    if (answer.ids.empty()) answer.prompt_ms = timer.restart();
    answer.ids.push_back(event.id);
    std::string part;
    if (event.finish != MOTE_FINISH_STOP || !model.stops_at(event.id)) {
      MOTE_TAKE(part, text.next(event.id));
    }
    emit(event.id, part);
    if (answer.finish == MOTE_FINISH_NONE && text.stopped()) answer.finish = MOTE_FINISH_STOP;
    token.restart();
  }
  guesses.count(answer);
  (answer.ids.empty() ? answer.prompt_ms : answer.decode_ms) = timer.ms();
  MOTE_TAKE(const std::string rest, text.finish());
  if (!rest.empty()) emit(answer.ids.back(), rest);
  return answer;
}

Status generate_sliding(const Model& model, Session& session, uint32_t context,
                        std::span<const int32_t> prompt, const GenerationPlan& plan, const Hooks& hooks,
                        const OnToken& on_token, Answer& answer) {
  GenerationPlan next = plan;
  while (answer.finish == MOTE_FINISH_CONTEXT && context > 1) {
    std::vector<int32_t> all(prompt.begin(), prompt.end());
    all.insert(all.end(), answer.ids.begin(), answer.ids.end());
    const size_t keep = context / 2;
    hooks.say("the context of {} tokens is full: going on with the last {}", context, keep);
    if (plan.generation.max_tokens != 0)
      next.generation.max_tokens = plan.generation.max_tokens - static_cast<uint32_t>(answer.ids.size());
    ++next.generation.sampling.seed;
    mote_error error = {};
    MOTE_TRY(from_core(mote_session_truncate(session.get(), 0, 0, &error), error, "run"));
    MOTE_TAKE(const Answer more,
              generate(model, session, std::span(all).last(keep), next, hooks, on_token, answer.constraint));
    answer.ids.insert(answer.ids.end(), more.ids.begin(), more.ids.end());
    answer.text += more.text;
    answer.finish = more.finish;
    answer.decode_ms += more.prompt_ms + more.decode_ms;
    answer.guesses.runs += more.guesses.runs;
    answer.guesses.rows += more.guesses.rows;
    answer.guesses.guessed += more.guesses.guessed;
    answer.guesses.stood += more.guesses.stood;
  }
  return {};
}

}  // namespace mote::host
