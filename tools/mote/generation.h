// SPDX-License-Identifier: Apache-2.0
//
// Generating an answer on a session: what run and chat share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/mote/arguments.h"
#include "tools/mote/session.h"

namespace mote::cli {

struct GenerationFlags {
  uint32_t tokens = 0;  // most to generate; 0: until the context is full
  bool greedy = false;
  bool ignore_stop = false;
  std::vector<std::string> stop_texts;
  mote_sampling sampling = {};  // where the flags say it
  // What may be given in place of what the model's authors say.
  std::optional<Option> temperature, top_k, top_p, min_p, penalty;
  mote_token_rules rules = {};
};

/// -n, --greedy, --temp and so on, --stop, --ignore-stop, with this default.
void add_generation_flags(Command command, GenerationFlags& flags, uint32_t tokens);

/// Takes what the flags leave open from the model: its rules, and with `samples` how it is sampled. Returns
/// what it took, "temperature 0.6, top_p 0.95", or "".
std::string take_model_defaults(const ModelFile& file, bool samples, GenerationFlags& flags);

/// --context-full: stop, or slide, which forgets `forgotten`. `what` holds the default.
void add_context_full_flag(Command command, std::string& what, const std::string& forgotten);

struct Answer {
  std::vector<int32_t> ids;  // a stop id included
  std::string text;          // without what stopped it
  mote_finish finish = MOTE_FINISH_NONE;
  double prompt_ms = 0, decode_ms = 0;

  /// Of `prompt` tokens; the first of the answer comes with them.
  double prompt_per_s(size_t prompt) const;
  double decode_per_s() const;
};

/// "stop", "length" and so on.
const char* finish_name(mote_finish finish);

/// Called with each id and the text that it completes, which may be empty.
using OnToken = std::function<void(int32_t id, const std::string& text)>;

/// Continues sequence 0 after `prompt`, which may be empty where there are logits. Ctrl-C, under an
/// InterruptGuard, and a stop text end it with CANCELLED, perhaps before the first id, and STOP. Text is made
/// only where the file has a tokenizer. Throws convert::Error.
Answer generate(const ModelFile& file, Session& session, const std::vector<int32_t>& prompt,
                const GenerationFlags& flags, const OnToken& on_token);

}  // namespace mote::cli
