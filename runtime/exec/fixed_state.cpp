// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/fixed_state.h"

#include <string.h>

namespace mote {
namespace {

bool has_fixed_states(const file::Model& root) { return kind_without_past(root) != nullptr; }

/// The verifier bounds the product of the three.
uint64_t slot_floats(const file::State& state) {
  return align_up(uint64_t{state.heads()} * state.rows() * state.cols(), kAlignment / sizeof(float));
}

/// Copies the states that sequence `from` keeps to those that a run of `to` would write.
void copy_to_other_slot(mote_session* s, uint32_t from, uint32_t to) {
  for (uint32_t i = 0; i < s->model->root->states()->size(); ++i) {
    const FixedStateView& view = s->fixed.views[i];
    if (view.slots != nullptr)
      memcpy(view.after(to), view.before(from), static_cast<size_t>(fixed_floats(view) * sizeof(float)));
  }
}

}  // namespace

void take_fixed_tables(Arena& arena, mote_session* s) {
  s->fixed = {};
  if (!has_fixed_states(*s->model->root)) return;
  const mote_session_options& options = s->options;
  s->fixed.views = arena.take<FixedStateView>(s->model->root->states()->size());
  s->fixed.current = arena.take<uint8_t>(options.batch);
  s->fixed.sequences = arena.take<uint32_t>(options.batch);
  s->fixed.first = arena.take<uint32_t>(options.batch);
  s->fixed.last = arena.take<uint32_t>(options.batch);
  s->fixed.next = arena.take<uint32_t>(options.chunk);
}

void take_fixed_states(Arena& arena, mote_session* s) {
  const auto* states = s->model->root->states();
  for (uint32_t i = 0; i < states->size(); ++i) {
    const file::State& state = *states->Get(i);
    FixedStateView view{};
    if (is_fixed(state)) {
      const uint64_t floats = slot_floats(state);
      float* slots = arena.take<float>(saturating_multiply(floats, 2, s->options.batch));
      view = {slots, s->fixed.current, static_cast<size_t>(floats), state.heads(), state.rows(), state.cols(),
              i};
    }
    if (s->fixed.views != nullptr) s->fixed.views[i] = view;
  }
  if (s->fixed.views != nullptr) memset(s->fixed.current, 0, s->options.batch);
}

void link_row(mote_session* s, uint32_t sequence, uint32_t row) {
  const FixedStates& fixed = s->fixed;
  if (fixed.views == nullptr) return;
  if (s->added[sequence] == 0) {
    fixed.sequences[s->run.sequences_with_rows++] = sequence;
    fixed.first[sequence] = row;
  } else {
    fixed.next[fixed.last[sequence]] = row;
  }
  fixed.last[sequence] = row;
  fixed.next[row] = kNoRow;
}

void reorder_fixed_states(mote_session* s, const uint32_t* from) {
  if (s->fixed.views == nullptr) return;
  const auto changes = [&](uint32_t i) { return from[i] != i && s->lengths[from[i]] != 0; };
  for (uint32_t i = 0; i < s->options.batch; ++i) {
    if (changes(i)) copy_to_other_slot(s, from[i], i);
  }
  for (uint32_t i = 0; i < s->options.batch; ++i) {
    if (changes(i)) swap_fixed_states(s, i);
  }
}

void copy_fixed_states(mote_session* s, uint32_t from, uint32_t to) {
  if (s->fixed.views == nullptr || from == to || s->lengths[from] == 0) return;
  copy_to_other_slot(s, from, to);
  swap_fixed_states(s, to);
}

uint64_t saved_fixed_bytes(const mote_session& s) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; s.fixed.views != nullptr && i < s.model->root->states()->size(); ++i)
    bytes += fixed_floats(s.fixed.views[i]) * sizeof(float);
  return bytes;
}

const char* kind_without_past(const file::Model& root) {
  for (const file::State* state : *root.states()) {
    if (is_fixed(*state)) return file::EnumNameStateKind(state->kind());
  }
  return nullptr;
}

}  // namespace mote
