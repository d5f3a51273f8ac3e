// SPDX-License-Identifier: Apache-2.0
//
// The assistant: a line typed over the UART is a command, its answer is what the model says, a JSON text of
// the model `commands`. The main loop never waits: each turn looks after the UART, counts a heartbeat and
// does one bounded step of the model. The line "stats" prints what was measured, "exit" ends the run.
#include <stdint.h>
#include <string.h>

#include "image.h"
#include "options.h"
#include "shape.h"

namespace {

using image::error;
using image::report;

constexpr uint32_t kLineBytes = 128;
constexpr uint32_t kPromptBytes = kLineBytes + 64;
constexpr uint32_t kOperationsPerStep = 1;
constexpr uint32_t kPieceBytes = 64;

/// The line being typed.
struct Line {
  char text[kLineBytes];
  uint32_t bytes;
  bool too_long;
};

struct Assistant {
  const mote_model* model;
  mote_session* session;
  Line line;
  image::Heartbeat heart;
  image::Shape shape;
  mote_detokenizer text;
  int32_t prompt[MOTE_CONFIG_CONTEXT];
  uint32_t prompt_tokens, tokens;
  bool answering;
};

Assistant assistant;

[[gnu::noinline]] mote_status start(Assistant& a) {
  mote_session_options options = mote_session_options_default(a.model);
  options.context = MOTE_CONFIG_CONTEXT;
  options.chunk = MOTE_CONFIG_CHUNK;
  options.logit_rows = 1;
  options.text_bytes = MOTE_CONFIG_TEXT_BYTES;
  options.kv_dtype = static_cast<mote_kv_dtype>(MOTE_CONFIG_KV);
  const mote_status status = image::start(a.model, options, &a.session);
  return status == MOTE_OK ? a.shape.open(a.model) : status;
}

mote_status begin_answer(Assistant& a) {
  const mote_message message = {MOTE_ROLE_USER, a.line.text, a.line.bytes, 0, 0, {}};
  char rendered[kPromptBytes];
  mote_status status = mote_session_truncate(a.session, 0, 0, &error);
  if (status != MOTE_OK) return status;
  status = mote_chat_tokenize(a.session, &message, 1, 1, rendered, sizeof rendered, a.prompt,
                              MOTE_CONFIG_CONTEXT, &a.prompt_tokens, &error);
  if (status != MOTE_OK) return status;
  mote_generation generation = mote_generation_default();
  status = a.shape.begin(&generation);
  if (status != MOTE_OK) return status;
  status = mote_generation_begin(a.session, a.prompt, a.prompt_tokens, &generation, &error);
  if (status != MOTE_OK) return status;
  a.tokens = 0;
  return mote_detokenizer_start(a.model, MOTE_SKIP_SPECIAL, &a.text, &error);
}

/// One bounded step; writes the text that it brings.
mote_status step(Assistant& a) {
  mote_event event = {};
  mote_status status = mote_session_step(a.session, kOperationsPerStep, &event, &error);
  if (status != MOTE_OK) return status;
  if (event.has_token != 0) {
    char piece[kPieceBytes + 1];
    size_t bytes = 0;
    ++a.tokens;
    status = mote_detokenizer_next(a.model, &a.text, event.id, piece, kPieceBytes, &bytes, &error);
    if (status != MOTE_OK) return status;
    piece[bytes] = '\0';
    print(piece);
  }
  if (event.finish == MOTE_FINISH_NONE) return MOTE_OK;
  print(event.finish == MOTE_FINISH_STOP ? "\n" : "\n(the context is full)\n");
  a.answering = false;
  return MOTE_OK;
}

void print_stats(const Assistant& a) {
  print("prompt tokens ", a.prompt_tokens, ", answer tokens ", a.tokens, ", heartbeats ", a.heart.beats,
        ", longest gap ", a.heart.longest, " ticks, busy ", a.heart.busy_ticks, " ticks, ");
  image::print_stack();
}

/// False where the line ends the run.
bool take_line(Assistant& a) {
  const auto is = [&](const char* word) {
    return strlen(word) == a.line.bytes && memcmp(word, a.line.text, a.line.bytes) == 0;
  };
  if (is("exit")) return false;
  if (a.line.too_long) {
    print("the command is longer than ", kLineBytes, " bytes\n");
  } else if (is("stats")) {
    print_stats(a);
  } else if (a.line.bytes != 0) {
    const mote_status status = begin_answer(a);
    a.answering = status == MOTE_OK;
    if (status != MOTE_OK) report("refused", status);
  }
  a.line = {};
  return true;
}

/// Takes the bytes that came in; false where the run ends. While an answer is made they wait in the UART.
bool read_line(Assistant& a) {
  const int byte = console_read();
  if (byte < 0) return true;
  if (byte == '\n' || byte == '\r') return take_line(a);
  if (a.line.bytes < kLineBytes) {
    a.line.text[a.line.bytes++] = static_cast<char>(byte);
  } else {
    a.line.too_long = true;
  }
  return true;
}

void main_loop(Assistant& a) {
  for (;;) {
    a.heart.beat(a.answering);
    if (!a.answering) {
      if (!read_line(a)) return;
    } else {
      const mote_status status = step(a);
      if (status == MOTE_OK) continue;
      report("failed", status);
      a.answering = false;
    }
  }
}

}  // namespace

int main(void) {
  print("mote ", mote_version(), " on ", MOTE_BOARD, "\n");
  mote_clock::start();
  mote_status status = image::open(&assistant.model);
  if (status == MOTE_OK) status = start(assistant);
  if (status != MOTE_OK) {
    report("failed", status);
    return 1;
  }
  print("ready\n");
  main_loop(assistant);
  print_stats(assistant);
  return 0;
}
