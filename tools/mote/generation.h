// SPDX-License-Identifier: Apache-2.0
//
// Generating an answer on a session: what run and chat share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/mote/session.h"

namespace mote::cli {

class Command;

struct GenerationFlags {
  uint32_t tokens = 0;  // most to generate; 0: until the context is full
  bool greedy = false;
  bool ignore_stop = false;
  std::vector<std::string> stop_texts;
  mote_sampling sampling = {};
};

/// -n, --greedy, --temp and so on, --stop, --ignore-stop, with these defaults.
void add_generation_flags(Command command, GenerationFlags& flags, uint32_t tokens, float repetition_penalty);

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

/// Continues sequence 0 after `prompt`, which may be empty where there are logits. Ctrl-C and a stop text end
/// it with CANCELLED and STOP. Text is made only where the file has a tokenizer. Throws convert::Error.
Answer generate(const ModelFile& file, Session& session, const std::vector<int32_t>& prompt,
                const GenerationFlags& flags, const OnToken& on_token);

/// While one exists, Ctrl-C ends the generation in progress instead of the program.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  static bool interrupted();
  static void clear();
  /// Waits until there is something to read, or the end of it; false when Ctrl-C comes first, or came already.
  static bool wait_readable(int fd);
};

}  // namespace mote::cli
