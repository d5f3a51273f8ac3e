// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/layout.h"

#include "runtime/error.h"
#include "runtime/exec/backend.h"
#include "runtime/exec/fixed_state.h"
#include "runtime/exec/history.h"
#include "runtime/exec/kv_state.h"
#include "runtime/exec/lane.h"
#include "runtime/exec/memory.h"
#include "runtime/exec/passes.h"
#include "runtime/exec/segments.h"

namespace mote {
namespace {

void choose_passes(mote_session* s) {
  const mote_session_options& options = s->options;
  s->pass_rows = s->token_rows = options.chunk;
  if (!s->model->encoder || !s->model->in_passes || options.trace != nullptr) return;
  const uint32_t several = pass_rows(*family(s->isa).tuning, options.threads);
  uint32_t most = several;
  for (const file::Program* program : *s->model->root->programs()) {
    const uint32_t longest = most_rows_of_sequence(*s, *program);
    most = longest > most ? longest : most;
  }
  if (several < options.chunk) s->pass_rows = several;
  if (most < options.chunk) s->token_rows = most;
}

/// Lanes where the chunk has rows for them and the family is tuned for lanes. Backends and traces take
/// operands whole.
void choose_lanes(mote_session* s) {
  const mote_session_options& options = s->options;
  s->least_lane = UINT32_MAX;
  if (!kHasThreads) return;
  const Tuning& tuning = *family(s->isa).tuning;
  const bool whole = options.backend != nullptr || options.trace != nullptr;
  if (!tuning.lanes || whole || options.chunk > kMaxChunk) return;
  uint32_t least = 0;
  for (const file::Program* program : *s->model->root->programs()) {
    const uint32_t of_program = least_lane_rows(*s->model, *program, tuning, options.threads);
    if (of_program > least) least = of_program;
  }
  if (options.threads > 1 && s->token_rows / options.threads >= least) s->least_lane = least;
}

bool has_lanes(const mote_session& s) { return kHasThreads && s.least_lane != UINT32_MAX; }

/// Rows of tokens that a program has at once; of several encoding programs some take short sequences.
uint32_t most_tokens(const mote_session& s, const file::Program& program) {
  const bool several = s.model->root->programs()->size() != 1;
  if (!kHasWholeSequences || !s.model->encoder || !several) return s.token_rows;
  const uint64_t most = uint64_t{s.options.batch} * most_rows_of_sequence(s, program);
  return most < s.token_rows ? static_cast<uint32_t>(most) : s.token_rows;
}

/// The rows that the program's stream can have at once.
uint64_t count_rows(const mote_session& s, const file::Program& program, uint32_t stream) {
  const uint32_t tokens = most_tokens(s, program);
  switch (program.streams()->Get(stream)->kind()) {
    case file::StreamKind::token:
      return tokens;
    case file::StreamKind::selected:
      return s.options.logit_rows;
    case file::StreamKind::sequence:
      return s.options.batch;
    case file::StreamKind::group:
      break;
  }
  if (!kHasWholeSequences) return 0;
  const file::Stream& groups = *program.streams()->Get(stream);
  const uint64_t sequences = s.options.batch < tokens ? s.options.batch : tokens;
  if (groups.fixed() != 0) return sequences * groups.fixed();
  if (const GridScale scale = grid_of(program, stream); scale.times != 0) {
    const uint64_t places = most_grid_rows(scale, groups.grid_least(), tokens, sequences);
    return places == 0 ? 1 : places;
  }
  const uint64_t rows = saturating_add(count_rows(s, program, groups.of()), sequences * (groups.ratio() - 1));
  return saturating_multiply(rows / groups.ratio(), groups.parts());  // each may end in a part of a group
}

/// Returns count_rows(), which check_counts proved to be few enough.
uint32_t most_rows(const mote_session& s, const file::Program& program, uint32_t stream) {
  return static_cast<uint32_t>(count_rows(s, program, stream));
}

/// Numbers of rows are int32_t.
mote_status check_counts(const mote_session& s, mote_error* error) {
  for (const file::Program* program : *s.model->root->programs()) {
    for (uint32_t i = 0; i < program->streams()->size(); ++i) {
      if (count_rows(s, *program, i) <= INT32_MAX) continue;
      return fail(error, MOTE_INVALID_ARGUMENT, "stream ", i, " has too many rows for a chunk of ",
                  s.options.chunk, " and ", s.options.batch, " sequences; lower them");
    }
  }
  return MOTE_OK;
}

/// A bit for each program of whose rows this one, which appends, reads what was kept.
uint32_t sources_of(const mote_model& model, const file::Program& program) {
  uint32_t sources = 0;
  if (!kHasWholeSequences) return sources;
  for (const file::Op* op : *program.ops()) {
    const auto* attention = op->args_as_Attention();
    if (attention == nullptr || is_whole(program)) continue;
    const int32_t source = model.root->states()->Get(attention->state())->source();
    if (source != -1) sources |= 1u << source;
  }
  return sources;
}

/// The programs, and how many steps they have.
void take_programs(Arena& arena, mote_session* s) {
  const auto* programs = s->model->root->programs();
  s->programs = arena.take<ProgramSteps>(programs->size());
  s->step_count = 0;
  for (uint32_t i = 0; i < programs->size(); ++i) {
    const uint32_t first = s->step_count;
    s->step_count += programs->Get(i)->ops()->size();
    if (s->programs == nullptr) continue;
    const file::Program& program = *programs->Get(i);
    const auto index = static_cast<int32_t>(i);
    bool keeps = false;
    for (const file::State* state : *s->model->root->states()) keeps = keeps || state->source() == index;
    s->programs[i] = {&program,
                      first,
                      s->step_count,
                      input_width(program),
                      takes_ids(program),
                      sources_of(*s->model, program),
                      keeps,
                      selected_of(program),
                      {nullptr, 0}};
  }
}

bool takes_floats(const mote_model& model) {
  for (const file::Program* program : *model.root->programs()) {
    if (input_width(*program) != 0) return true;
  }
  return false;
}

/// Takes places for the tables of the rows of groups; rows of tokens have the session's tables.
void take_groups(Arena& arena, mote_session* s) {
  if (!kHasWholeSequences) return;
  uint32_t rows[kMaxStreams] = {};
  bool fixed = false;
  for (const file::Program* program : *s->model->root->programs()) {
    for (uint32_t i = 0; i < program->streams()->size(); ++i) {
      if (program->streams()->Get(i)->kind() != file::StreamKind::group) continue;
      const uint32_t most = most_rows(*s, *program, i);
      rows[i] = most > rows[i] ? most : rows[i];
      fixed = fixed || program->streams()->Get(i)->fixed() != 0;
    }
  }
  if (fixed) s->places.streams[kTokens].last_across = arena.take<int32_t>(s->options.chunk);
  for (uint32_t i = 0; i < kMaxStreams; ++i) {
    if (rows[i] == 0) continue;
    StreamPlace& place = s->places.streams[i];
    place.positions = arena.take<int32_t>(rows[i]);
    place.sequences = arena.take<int32_t>(rows[i]);
    place.last_seen = arena.take<int32_t>(rows[i]);
    place.last_across = fixed ? arena.take<int32_t>(rows[i]) : nullptr;
    place.starts = arena.take<uint32_t>(uint64_t{s->options.batch} + 1);
    place.firsts = arena.take<uint32_t>(uint64_t{rows[i]} + 1);
  }
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
  if (s->model->encoder || s->model->sources) {
    s->last_seen = arena.take<int32_t>(options.chunk);
    s->token_types = arena.take<int32_t>(options.chunk);
    const bool globals = s->model->root->globals() != nullptr;
    s->next_global = globals ? arena.take<int32_t>(options.chunk) : nullptr;
    s->starts = arena.take<uint32_t>(uint64_t{options.batch} + 1);
  }
  take_memory(arena, s);
  s->places.grids = takes_grids(*s->model) ? arena.take<GridSize>(options.batch) : nullptr;
  s->places.streams[kTokens] = {nullptr,      0,         s->positions, s->sequences,
                                s->last_seen, s->starts, nullptr,      nullptr};
  take_groups(arena, s);
  take_history(arena, s);
  take_segments(arena, s);
  take_pools(arena, s);
  if (kHasFixedStates) take_fixed_tables(arena, s);
}

void take_activations(Arena& arena, mote_session* s) {
  const uint32_t lanes = has_lanes(*s) ? s->options.threads : 1;
  uint64_t bytes[kMaxStreams] = {};  // of the program with the most; of tokens, of a lane
  for (const file::Program* program : *s->model->root->programs()) {
    for (uint32_t i = 0; i < program->streams()->size(); ++i) {
      const uint32_t most = most_rows(*s, *program, i);
      const uint32_t rows = i == kTokens ? rows_of_lane(most, lanes) : most;
      const uint64_t of_stream = uint64_t{program->streams()->Get(i)->row_bytes()} * rows;
      bytes[i] = of_stream > bytes[i] ? of_stream : bytes[i];
    }
  }
  // No gaps between lanes: the buffers of a run too short for lanes take their place as a whole.
  s->lane_bytes = static_cast<size_t>(bytes[kTokens]);
  bytes[kTokens] = saturating_multiply(bytes[kTokens], lanes);
  for (uint32_t i = 0; i < kMaxStreams; ++i) {
    if (bytes[i] != 0) s->places.streams[i].buffers = arena.take<uint8_t>(bytes[i]);
  }
}

/// The needs that the steps have of the executor, the largest of all.
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
  const mote_backend* backend = kHasBackends ? s.options.backend : nullptr;
  const uint32_t rows = most_rows(s, program, step.stream);
  uint64_t bytes = scratch_bytes(step, rows);
  if (backend != nullptr && &program == s.model->program && is_for_backend(*s.model, index))
    bytes = backend_scratch_bytes(*s.model, index, backend->slices, *step.kernel);
  if (bytes > needs->scratch_bytes) needs->scratch_bytes = bytes;
  if (step.op != Op::kAttention) return MOTE_OK;

  const AttentionArgs& args = step.attention;
  const bool splits = kHasThreads && segments > 1 && args.window == 0;
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
  const bool shares_positions = kHasThreads && options.threads > 1 && !s->model->encoder;
  uint64_t longest = options.context;
  for (const file::Program* program : *s->model->root->programs()) {
    if (!shares_positions || !is_whole(*program)) continue;
    const uint32_t rows = most_rows_of_sequence(*s, *program);
    longest = rows > longest ? rows : longest;
  }
  const uint64_t segments = shares_positions ? (longest + kAttentionSegment - 1) / kAttentionSegment : 0;
  Needs needs;
  for (const file::Program* program : *s->model->root->programs()) {
    for (uint32_t i = 0; i < program->ops()->size(); ++i) {
      const mote_status status = add_needs(*s, *program, i, segments, &needs, error);
      if (status != MOTE_OK) return status;
    }
  }
  s->scratch_bytes = needs.scratch_bytes;
  s->scratch = arena.take_blocks(needs.scratch_bytes, options.threads, &s->scratch_stride);
  s->stealable = arena.take<StealableUnits>(options.threads);
  s->partials = nullptr;
  if (needs.partial_floats != 0) {
    s->partials = arena.take<float>(saturating_multiply(needs.partial_floats, segments, options.batch));
  }
  return MOTE_OK;
}

/// Bytes for a text behind the longest prompt, of a model whose vectors are of texts.
size_t prompt_room(const mote_session& s) {
  if constexpr (!kHasWholeSequences) return 0;
  const file::Model& root = *s.model->root;
  if (s.options.text_bytes == 0 || size_of(root.prompts()) == 0 ||
      s.model->program->output_kind() != file::OutputKind::embedding || s.model->tokenizer.tokens == 0)
    return 0;
  size_t longest = 0;
  for (const file::Prompt* prompt : *root.prompts()) {
    if (prompt->text()->size() > longest) longest = prompt->text()->size();
  }
  return longest + s.options.text_bytes;
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
  mote_status status = check_counts(*s, error);
  if (status != MOTE_OK) return status;
  choose_lanes(s);
  take_tables(arena, s);
  part(&memory->session);
  take_activations(arena, s);
  part(&memory->activations);
  status = take_scratch(arena, s, error);
  if (status != MOTE_OK) return status;
  part(&memory->scratch);
  take_caches(arena, s);
  part(&memory->kv_cache);
  if (kHasFixedStates) take_fixed_states(arena, s);
  part(&memory->states);
  s->sampler.candidates = arena.take<Candidate>(s->model->encoder ? 0 : s->model->root->vocab());
  s->sampler.recent = arena.take<int32_t>(s->model->encoder ? 0 : MOTE_REPETITION_WINDOW);
  part(&memory->sampler);
  s->text = take_text_scratch(&arena, s->model->tokenizer.tokens == 0 ? 0 : s->options.text_bytes);
  s->prompted.bytes = prompt_room(*s);
  if (s->prompted.bytes != 0) s->prompted.text = arena.take<char>(s->prompted.bytes);
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

void set_program(const mote_session& s, const file::Program& program, Places* places) {
  places->program = &program;
  for (uint32_t i = 0; i < program.streams()->size(); ++i) {
    places->streams[i].rows = most_rows(s, program, i);
  }
}

}  // namespace mote
