// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/generation.h"

#include <fmt/format.h>

#include <optional>

#include "tools/mote/arguments.h"
#include "tools/mote/signals.h"
#include "tools/mote/steps.h"
#include "tools/mote/stop_text.h"
#include "tools/mote/text.h"
#include "tools/mote/timer.h"

namespace mote::cli {
namespace {

mote_generation options_of(const GenerationFlags& flags) {
  mote_generation generation = mote_generation_default();
  generation.sampling = flags.sampling;
  generation.max_tokens = flags.tokens;
  generation.ignore_model_stops = flags.ignore_stop;
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

void add_generation_flags(Command command, GenerationFlags& flags, uint32_t tokens,
                          float repetition_penalty) {
  flags.tokens = tokens;
  flags.sampling = mote_sampling_default();
  flags.sampling.repetition_penalty = repetition_penalty;
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
  command.option("--top-k", &sampling.top_k, "Sample of the K likeliest tokens; 0: of all")
      .type("K")
      .needs(temperature);
  command.option("--top-p", &sampling.top_p, "Sample of the likeliest tokens that make up this probability")
      .type("P")
      .above_zero(1.0f)
      .needs(temperature);
  command.option("--min-p", &sampling.min_p, "Sample of tokens at least P times as likely as the likeliest")
      .type("P")
      .range(0.0f, 1.0f)
      .needs(temperature);
  command.option("--seed", &sampling.seed, "Seed of the random numbers (default: 0)")
      .type("N")
      .needs(temperature);
  command
      .option(
          "--repeat-penalty", &sampling.repetition_penalty,
          fmt::format("Make the last 256 tokens less likely (default: {}); 1 does not", repetition_penalty))
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
