// SPDX-License-Identifier: Apache-2.0
//
// Answers: ids and text that a session generates.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/tasks/constraint.h"
#include "host/tasks/draft.h"
#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/status.h"
#include "mote/generation.h"

namespace mote::host {

/// The options of an answer that a caller wants. Options that are not given are as the model's authors say.
struct GenerationOptions {
  uint32_t tokens = 0;  // most to generate; 0: until the context is full
  bool greedy = false;
  bool ignore_stop = false;             // goes on after the model's stop ids
  std::vector<std::string> stop_texts;  // an answer ends before the first of them
  uint64_t seed = 0;
  std::optional<float> temperature, top_p, min_p, repetition_penalty;
  std::optional<uint32_t> top_k;
  SpeculationOptions speculation;
};

/// Holds how a session generates: the options, and the choices of the model's authors where those are open.
struct GenerationPlan {
  mote_generation generation;  // its rules are null
  mote_token_rules rules;
  std::vector<std::string> stop_texts;
  SpeculationOptions speculation;
  std::string defaults;  // "temperature 0.6, top_p 0.95": taken from the model; "": nothing was
  GrammarPlan grammar = {};
  bool slides = false;     // the answer may go on when the context is full
  Draft* draft = nullptr;  // gives guesses too, where the speculation wants them; null: there is none
};

/// `samples`: an answer is sampled as the model's authors sample unless the options are greedy; otherwise it
/// is sampled where the options have a temperature.
GenerationPlan plan_generation(const Model& model, const GenerationOptions& options, bool samples);

struct Answer {
  std::vector<int32_t> ids;  // a stop id included
  std::string text;          // without what stopped it
  mote_finish finish = MOTE_FINISH_NONE;
  double prompt_ms = 0, decode_ms = 0;
  mote_speculation_counts guesses = {};
  std::string no_guesses;                        // why there were none; "": there may have been
  std::shared_ptr<AnswerConstraint> constraint;  // that the answer keeps to, null: none

  /// Returns tokens a second of a prompt of so many; the first token of the answer comes with them.
  double prompt_per_s(size_t prompt) const;
  double decode_per_s() const;
};

/// Returns "stop", "length" and so on.
const char* finish_name(mote_finish finish);

/// Is called with each id and the text that it completes, which may be empty.
using OnToken = std::function<void(int32_t id, const std::string& text)>;

/// Continues sequence 0 after `prompt`, which may be empty where there are logits. A caller's stop and a stop
/// text end it with the finish CANCELLED, perhaps before the first id, and STOP. Text is made only where the
/// model has a tokenizer. `constraint`: of an answer that it goes on with; null: the plan's from its begin.
Result<Answer> generate(const Model& model, Session& session, std::span<const int32_t> prompt,
                        const GenerationPlan& plan, const Hooks& hooks, const OnToken& on_token,
                        std::shared_ptr<AnswerConstraint> constraint = nullptr);

/// Goes on with an answer that the context ended: each time it is full, with the last half of the tokens.
Status generate_sliding(const Model& model, Session& session, uint32_t context,
                        std::span<const int32_t> prompt, const GenerationPlan& plan, const Hooks& hooks,
                        const OnToken& on_token, Answer& answer);

}  // namespace mote::host
