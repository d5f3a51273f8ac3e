// SPDX-License-Identifier: Apache-2.0
#include "runtime/file/states.h"

#include "runtime/error.h"
#include "runtime/exec/saturating.h"
#include "runtime/ops/ops.h"

namespace mote {
namespace {

bool is_sound_kv(const file::State& state) {
  const uint32_t wider = state.key_dim() > state.value_dim() ? state.key_dim() : state.value_dim();
  return state.kv_heads() != 0 && state.key_dim() != 0 && state.value_dim() != 0 && wider <= kMaxHeadDim &&
         state.kv_heads() <= kMaxWidth / wider && state.heads() == 0 && state.rows() == 0 &&
         state.cols() == 0;
}

/// Also that nothing is said which is of keys and values alone.
bool is_sound_fixed(const file::State& state) {
  const uint64_t floats = saturating_multiply(state.heads(), state.rows(), state.cols());
  const bool only_fixed = state.kv_heads() == 0 && state.key_dim() == 0 && state.value_dim() == 0 &&
                          state.window() == 0 && !state.bidirectional();
  return floats != 0 && floats <= kMaxRowBytes / sizeof(float) && only_fixed;
}

mote_status refuse(const char* program, const char* has, uint32_t state, mote_error* error) {
  return fail(error, MOTE_CORRUPT_FILE, "program ", program, " has ", has, " state ", state);
}

}  // namespace

mote_status check_states(const file::Model& root, mote_error* error) {
  uint32_t windows[kMaxWindows];
  for (uint32_t i = 0; i < root.states()->size(); ++i) {
    const file::State* state = root.states()->Get(i);
    if (state->kind() > file::StateKind::MAX) {
      return fail(error, MOTE_UNSUPPORTED_FILE, "state ", i,
                  " is of an unknown kind; a newer mote made this file");
    }
    if (!is_fixed(*state) && !is_sound_kv(*state)) {
      return fail(error, MOTE_CORRUPT_FILE, "state ", i, ": ", state->kv_heads(), " heads of ",
                  state->key_dim(), " and ", state->value_dim());
    }
    if (is_fixed(*state) && !is_sound_fixed(*state)) {
      return fail(error, MOTE_CORRUPT_FILE, "state ", i, ": ", state->heads(), " x ", state->rows(), " x ",
                  state->cols());
    }
  }
  if (windows_of(root, windows) <= kMaxWindows) return MOTE_OK;
  return fail(error, MOTE_CORRUPT_FILE, "states of more than ", kMaxWindows, " windows");
}

void FixedStateUses::add(const Step& step) {
  const uint32_t index =
      visit_step(step, [](auto operation, const auto& args) { return operation.fixed_state(args); });
  if (index == kNoState) return;
  const auto bit = static_cast<uint8_t>(1u << index % 8);
  uint8_t& byte = used_[index / 8];
  if ((byte & bit) != 0) twice_ = index;
  byte = static_cast<uint8_t>(byte | bit);
}

mote_status FixedStateUses::check(const char* program, mote_error* error) const {
  if (twice_ != kNoState) return refuse(program, "more than one operation for", twice_, error);
  for (uint32_t i = 0; i < states_.size(); ++i) {
    const bool used = (used_[i / 8] >> i % 8 & 1) != 0;
    if (is_fixed(*states_.Get(i)) && !used) return refuse(program, "no operation for", i, error);
  }
  return MOTE_OK;
}

uint32_t windows_of(const file::Model& root, uint32_t windows[kMaxWindows]) {
  uint32_t count = 0;
  for (const file::State* state : *root.states()) {
    if (is_fixed(*state)) continue;
    uint32_t i = 0;
    while (i < count && windows[i] != state->window()) ++i;
    if (i < count) continue;
    if (count == kMaxWindows) return kMaxWindows + 1;
    windows[count++] = state->window();
  }
  return count;
}

}  // namespace mote
