// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/global_tokens.h"

namespace mote {
namespace {

/// Rows [begin, end), of one sequence.
struct SequenceOfPass {
  uint32_t begin, end;
};

bool is_given(const mote_session& session, const file::Globals& globals, uint32_t row) {
  return static_cast<uint32_t>(session.token_types[row]) >= globals.type();
}

/// How many tokens, from the first on, are global by default.
uint32_t count_default(const mote_session& session, const file::Globals& globals, SequenceOfPass rows) {
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    if (is_given(session, globals, row)) return 0;
  }
  if (globals.by_default() == file::GlobalDefault::first) return 1;
  if (globals.by_default() == file::GlobalDefault::none) return 0;
  for (uint32_t row = rows.begin; row < rows.end; ++row) {
    if (session.ids[row] == globals.separator()) return row - rows.begin;
  }
  return 0;
}

}  // namespace

void find_global_tokens(mote_session* session) {
  const file::Globals* globals = session->model->root->globals();
  if (globals == nullptr) return;
  const Run& run = session->run;
  const uint32_t first_row = session->starts[run.first_sequence];
  for (uint32_t s = run.first_sequence; s < run.end_sequence; ++s) {
    const SequenceOfPass rows = {session->starts[s] - first_row, session->starts[s + 1] - first_row};
    const uint32_t by_default = count_default(*session, *globals, rows);
    int32_t next = kNoGlobal;
    for (uint32_t row = rows.end; row-- > rows.begin;) {
      if (row - rows.begin < by_default || is_given(*session, *globals, row)) next = session->positions[row];
      session->next_global[row] = next;
    }
  }
}

}  // namespace mote
