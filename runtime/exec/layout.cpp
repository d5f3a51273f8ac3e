// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/layout.h"

#include "runtime/error.h"
#include "runtime/exec/backend.h"
#include "runtime/exec/history.h"
#include "runtime/exec/kv_state.h"
#include "runtime/exec/lane.h"
#include "runtime/exec/passes.h"

namespace mote {
namespace {

void choose_passes(mote_session* s) {
  const mote_session_options& options = s->options;
  s->pass_rows = s->token_rows = options.chunk;
  if (!s->model->encoder || !s->model->in_passes || options.trace != nullptr) return;
  const uint32_t several = pass_rows(*family(s->isa).tuning, options.threads);
  const uint32_t most = options.context > several ? options.context : several;
  if (several < options.chunk) s->pass_rows = several;
  if (most < options.chunk) s->token_rows = most;
}

/// Lanes where the chunk has rows for them and the family is tuned for lanes. Backends and traces take
/// operands whole.
void choose_lanes(mote_session* s) {
  const mote_session_options& options = s->options;
  s->least_lane = UINT32_MAX;
  const Tuning& tuning = *family(s->isa).tuning;
  if (!tuning.lanes || options.backend != nullptr || options.trace != nullptr) return;
  uint32_t least = 0;
  for (const file::Program* program : *s->model->root->programs()) {
    const uint32_t of_program = least_lane_rows(*s->model, *program, tuning, options.threads);
    if (of_program > least) least = of_program;
  }
  if (options.threads > 1 && s->token_rows / options.threads >= least) s->least_lane = least;
}

bool has_lanes(const mote_session& s) { return s.least_lane != UINT32_MAX; }

/// The rows that a step of this unit can have at once.
uint32_t most_rows(const mote_session& s, file::RowUnit unit) {
  if (unit == file::RowUnit::sequence) return s.options.batch;
  return unit == file::RowUnit::selected ? s.options.logit_rows : s.token_rows;
}

/// The programs, and how many steps they have.
void take_programs(Arena& arena, mote_session* s) {
  const auto* programs = s->model->root->programs();
  s->programs = arena.take<ProgramSteps>(programs->size());
  s->step_count = 0;
  for (uint32_t i = 0; i < programs->size(); ++i) {
    const uint32_t first = s->step_count;
    s->step_count += programs->Get(i)->ops()->size();
    if (s->programs != nullptr)
      s->programs[i] = {programs->Get(i), first, s->step_count, input_width(*programs->Get(i)), {nullptr, 0}};
  }
}

bool takes_floats(const mote_model& model) {
  for (const file::Program* program : *model.root->programs()) {
    if (input_width(*program) != 0) return true;
  }
  return false;
}

void take_tables(Arena& arena, mote_session* s) {
  const mote_session_options& options = s->options;
  arena.take<mote_session>(1);
  take_programs(arena, s);
  s->steps = arena.take<Step>(s->step_count);
  s->lane_steps = has_lanes(*s) ? arena.take<Step>(s->step_count) : nullptr;
  s->ids = arena.take<int32_t>(options.chunk);
  s->positions = arena.take<int32_t>(options.chunk);
  s->sequences = arena.take<int32_t>(options.chunk);
  s->inputs = takes_floats(*s->model) ? arena.take<const float*>(options.chunk) : nullptr;
  s->selected = arena.take<uint32_t>(options.logit_rows);
  s->logit_index = arena.take<int32_t>(options.logit_rows);
  s->lengths = arena.take<uint32_t>(options.batch);
  s->added = arena.take<uint32_t>(options.batch);
  s->asked = arena.take<uint32_t>(options.batch);
  if (s->model->encoder) {
    s->last_seen = arena.take<int32_t>(options.chunk);
    s->token_types = arena.take<int32_t>(options.chunk);
    s->starts = arena.take<uint32_t>(uint64_t{options.batch} + 1);
  }
  take_history(arena, s);
  take_pools(arena, s);
}

void take_activations(Arena& arena, mote_session* s) {
  const mote_session_options& options = s->options;
  uint32_t token_bytes = 0, selected_bytes = 0, sequence_bytes = 0;  // of a row, of the program with the most
  const auto raise = [](uint32_t* most, uint32_t bytes) { *most = bytes > *most ? bytes : *most; };
  for (const file::Program* program : *s->model->root->programs()) {
    raise(&token_bytes, program->token_row_bytes());
    raise(&selected_bytes, program->selected_row_bytes());
    raise(&sequence_bytes, program->sequence_row_bytes());
  }
  const uint32_t lanes = has_lanes(*s) ? options.threads : 1;
  // No gaps between lanes: the buffers of a run too short for lanes take their place as a whole.
  const uint64_t lane_bytes = uint64_t{token_bytes} * rows_of_lane(s->token_rows, lanes);
  s->lane_bytes = static_cast<size_t>(lane_bytes);
  s->token_buffers = arena.take<uint8_t>(saturating_multiply(lane_bytes, lanes));
  s->selected_buffers = arena.take<uint8_t>(uint64_t{selected_bytes} * options.logit_rows);
  s->sequence_buffers = arena.take<uint8_t>(uint64_t{sequence_bytes} * options.batch);
}

/// What the steps ask of the executor, the largest of all.
struct Needs {
  uint64_t scratch_bytes = 0;
  uint64_t partial_floats = 0;  // of attention, for a row and segment
};

/// Adds what operation `index` of the program needs.
mote_status add_needs(const mote_session& s, const file::Program& program, uint32_t index, uint64_t segments,
                      Needs* needs, mote_error* error) {
  Places nowhere{};
  nowhere.program = &program;
  nowhere.proving = nowhere.finds_kernels = true;
  nowhere.isa = s.isa;
  nowhere.kv_dtype = s.kv_dtype;
  Step step;
  const mote_status status = bind(*s.model, nowhere, index, &step, error);
  if (status != MOTE_OK) return status;
  const mote_backend* backend = s.options.backend;
  const uint32_t rows = most_rows(s, step.unit);
  uint64_t bytes = step.kernel->scratch_bytes(scratch_shape(step, rows));
  if (backend != nullptr && &program == s.model->program && is_for_backend(*s.model, index))
    bytes = backend_scratch_bytes(*s.model, index, backend->slices, *step.kernel);
  if (bytes > needs->scratch_bytes) needs->scratch_bytes = bytes;
  if (step.op != Op::kAttention) return MOTE_OK;

  const AttentionArgs& args = step.attention;
  const bool splits = segments > 1 && args.window == 0;
  const auto units = [&](uint64_t of_rows) {
    return (of_rows + kAttentionRowBlock - 1) / kAttentionRowBlock * args.cache.kv_heads;
  };
  const uint64_t most = splits ? units(s.options.batch) * segments : 0;
  if (units(rows) > UINT32_MAX || most > UINT32_MAX) {
    return fail_at(error, MOTE_INVALID_ARGUMENT, static_cast<int32_t>(index), "op ", index,
                   " Attention: ", args.cache.kv_heads,
                   " KV heads are too many for these options; lower chunk, batch or "
                   "context");
  }
  const uint64_t floats = uint64_t{args.heads} * attention_partial_floats(args.cache.value_dim);
  if (splits && floats > needs->partial_floats) needs->partial_floats = floats;
  return MOTE_OK;
}

mote_status take_scratch(Arena& arena, mote_session* s, mote_error* error) {
  const mote_session_options& options = s->options;
  const bool shares_positions = options.threads > 1 && !s->model->encoder;
  const uint64_t segments =
      shares_positions ? (uint64_t{options.context} + kAttentionSegment - 1) / kAttentionSegment : 0;
  Needs needs;
  for (const file::Program* program : *s->model->root->programs()) {
    for (uint32_t i = 0; i < program->ops()->size(); ++i) {
      const mote_status status = add_needs(*s, *program, i, segments, &needs, error);
      if (status != MOTE_OK) return status;
    }
  }
  s->scratch_bytes = needs.scratch_bytes;
  s->scratch = arena.take_blocks(needs.scratch_bytes, options.threads, &s->scratch_stride);
  s->shares = arena.take<Share>(options.threads);
  s->partials = nullptr;
  if (needs.partial_floats != 0) {
    s->partials = arena.take<float>(saturating_multiply(needs.partial_floats, segments, options.batch));
  }
  return MOTE_OK;
}

}  // namespace

mote_status lay_out(Arena& arena, mote_session* s, mote_memory* memory, mote_error* error) {
  uint64_t before = 0;
  const auto part = [&](uint64_t* bytes) {
    *bytes = arena.used() - before;
    before = arena.used();
  };
  *memory = {};
  choose_passes(s);
  choose_lanes(s);
  take_tables(arena, s);
  part(&memory->session);
  take_activations(arena, s);
  part(&memory->activations);
  const mote_status status = take_scratch(arena, s, error);
  if (status != MOTE_OK) return status;
  part(&memory->scratch);
  take_caches(arena, s);
  part(&memory->kv_cache);
  s->sampler.candidates = arena.take<Candidate>(s->model->encoder ? 0 : s->model->root->vocab());
  s->sampler.recent = arena.take<int32_t>(s->model->encoder ? 0 : MOTE_REPETITION_WINDOW);
  part(&memory->sampler);
  s->text = take_text_scratch(&arena, s->model->tokenizer.tokens == 0 ? 0 : s->options.text_bytes);
  part(&memory->text);
  return MOTE_OK;
}

mote_status count_bytes(mote_session* session, mote_memory* memory, uint64_t* bytes, mote_error* error) {
  Arena counting;
  const mote_status status = lay_out(counting, session, memory, error);
  *bytes = counting.used();
  if (status != MOTE_OK) return status;
  if (*bytes <= SIZE_MAX / 2) return MOTE_OK;  // no object is larger
  *memory = {};
  return fail(error, MOTE_INVALID_ARGUMENT, "a context of ", session->options.context, ", ",
              session->options.batch, " sequences and a chunk of ", session->options.chunk,
              " take more memory than this machine can address; lower them");
}

}  // namespace mote
