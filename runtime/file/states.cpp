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
                          state.window() == 0 && !state.bidirectional() && state.ratio() == 1 &&
                          state.source() == -1 && state.grid_times() == 0;
  return floats != 0 && floats <= kMaxRowBytes / sizeof(float) && only_fixed;
}

/// Proves that positions by the picture's size, where a state has them, are of the rows of one run.
bool is_sound_grid(const file::State& state) {
  if (!kHasMedia || state.grid_times() == 0) return true;
  return state.bidirectional() && state.source() == -1 && state.memory() == 0 && state.ratio() == 1 &&
         state.window() == 0 && state.grid_every() != 0;
}

mote_status refuse(const char* program, const char* has, uint32_t state, mote_error* error) {
  return fail(error, MOTE_CORRUPT_FILE, "program ", program, " has ", has, " state ", state);
}

}  // namespace

mote_status check_states(const file::Model& root, mote_error* error) {
  uint16_t firsts[kMaxPools];
  for (uint32_t i = 0; i < root.states()->size(); ++i) {
    const file::State* state = root.states()->Get(i);
    if (state->kind() > file::StateKind::MAX) {
      return fail(error, MOTE_UNSUPPORTED_FILE, "state ", i,
                  " is of an unknown kind; a newer mote made this file");
    }
    if (!kHasFixedStates && state->kind() != file::StateKind::kv) {
      return fail(error, MOTE_UNSUPPORTED_FILE,
                  "the build, for another model, has no states of a fixed size");
    }
    if (!is_fixed(*state) && !is_sound_kv(*state)) {
      return fail(error, MOTE_CORRUPT_FILE, "state ", i, ": ", state->kv_heads(), " heads of ",
                  state->key_dim(), " and ", state->value_dim());
    }
    if ((state->ratio() == 0 && !state->bidirectional()) || state->ratio() > kMaxRatio) {
      return fail(error, MOTE_CORRUPT_FILE, "state ", i, ": ", state->ratio(), " tokens of a position");
    }
    if (!is_sound_grid(*state)) {
      return fail(error, MOTE_CORRUPT_FILE, "state ", i, ": ", state->grid_times(), " places for every ",
                  state->grid_every(), " patches");
    }
    const bool remembers = !is_fixed(*state) && state->bidirectional() && state->source() == -1 &&
                           state->ratio() == 1 && state->memory() <= kMaxContext;
    if (state->memory() != root.states()->Get(0)->memory() || (state->memory() != 0 && !remembers))
      return fail(error, MOTE_CORRUPT_FILE, "state ", i, " has a memory of ", state->memory());
    if (is_fixed(*state) && !is_sound_fixed(*state)) {
      return fail(error, MOTE_CORRUPT_FILE, "state ", i, ": ", state->heads(), " x ", state->rows(), " x ",
                  state->cols());
    }
  }
  if (first_of_kinds(root, firsts) <= kMaxPools) return MOTE_OK;
  return fail(error, MOTE_CORRUPT_FILE, "states of more than ", kMaxPools, " windows and kinds");
}

void StateUses::add_fixed(const Step& step) {
  const uint32_t index =
      visit_step(step, [](auto operation, const auto& args) { return operation.fixed_state(args); });
  if (index == kNoState) return;
  if (used_.has(index)) twice_ = index;
  used_.add(index);
}

mote_status StateUses::check_fixed(const file::Program& program, mote_error* error) const {
  if (!kHasFixedStates || is_whole(program)) return MOTE_OK;
  const char* name = program.name()->c_str();
  if (twice_ != kNoState) return refuse(name, "more than one operation for", twice_, error);
  for (uint32_t i = 0; i < states_.size(); ++i) {
    if (is_fixed(*states_.Get(i)) && !used_.has(i)) return refuse(name, "no operation for", i, error);
  }
  return MOTE_OK;
}

mote_status StateUses::add(const file::Program& program, uint32_t op, const Step& step, mote_error* error) {
  if (kHasFixedStates) add_fixed(step);
  const file::Op* of = program.ops()->Get(op);
  if (const auto* store = of->args_as_KvStore()) used_.add(store->state());
  const auto* attention = of->args_as_Attention();
  if (attention == nullptr || used_.has(attention->state())) return MOTE_OK;
  const bool of_source = states_.Get(attention->state())->source() != -1 && !is_whole(program);
  if (of_source) return MOTE_OK;  // check_stored
  return fail(error, MOTE_CORRUPT_FILE, "op ", op, " Attention: program ", program.name()->c_str(),
              " has stored nothing in state ", attention->state(), " before");
}

mote_status check_stored(const mote_model& model, mote_error* error) {
  const auto& programs = *model.root->programs();
  const auto& states = *model.root->states();
  for (uint32_t p = 0; p < programs.size(); ++p) {
    const file::Program& program = *programs.Get(p);
    StateSet stored;
    for (const file::Op* op : *program.ops()) {
      if (const auto* store = op->args_as_KvStore()) stored.add(store->state());
    }
    for (uint32_t i = 0; i < states.size(); ++i) {
      const file::State& state = *states.Get(i);
      const bool outlives = state.memory() != 0 || (!is_whole(program) && !state.bidirectional());
      const bool its_own = state.source() == -1 ? outlives : static_cast<uint32_t>(state.source()) == p;
      if (!is_fixed(state) && its_own && !stored.has(i))
        return refuse(program.name()->c_str(), "stored nothing in", i, error);
    }
  }
  return MOTE_OK;
}

CacheKind cache_kind(const file::State& state) {
  const bool of_run = state.bidirectional() && state.source() == -1 && state.memory() == 0;
  return {state.window(), state.ratio(),  state.source(),
          of_run,         state.memory(), {state.grid_times(), state.grid_every()}};
}

uint32_t first_of_kinds(const file::Model& root, uint16_t firsts[kMaxPools]) {
  static_assert(kMaxStates <= UINT16_MAX);
  uint32_t count = 0;
  const auto& states = *root.states();
  for (uint32_t index = 0; index < states.size(); ++index) {
    if (is_fixed(*states.Get(index))) continue;
    const CacheKind kind = cache_kind(*states.Get(index));
    uint32_t i = 0;
    while (i < count && !(cache_kind(*states.Get(firsts[i])) == kind)) ++i;
    if (i < count) continue;
    if (count == kMaxPools) return kMaxPools + 1;
    firsts[count++] = static_cast<uint16_t>(index);
  }
  return count;
}

}  // namespace mote
