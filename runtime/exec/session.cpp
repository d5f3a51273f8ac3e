// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/session.h"

#include <string.h>

#include <type_traits>

#include "runtime/error.h"
#include "runtime/exec/backend.h"
#include "runtime/exec/chain.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/fixed_state.h"
#include "runtime/exec/history.h"
#include "runtime/exec/kv_state.h"
#include "runtime/exec/lane.h"
#include "runtime/exec/layout.h"
#include "runtime/exec/segments.h"
#include "runtime/isa.h"

namespace mote {
namespace {

constexpr uint32_t kDefaultContext = 4096;
constexpr uint32_t kDefaultChunk = 64;
constexpr uint32_t kDefaultTextBytes = 1u << 16;
constexpr uint32_t kMaxTextBytes = 1u << 30;
constexpr uint32_t kDefaultMaskedRows = 16;
constexpr uint32_t kMaxThreads = 256;

mote_status check_backend(const mote_model* model, const mote_backend* backend, mote_error* error) {
  if (backend == nullptr) return MOTE_OK;
  if (!kHasBackends) return fail(error, MOTE_INVALID_ARGUMENT, "this build takes no backends");
  if (backend->model != model) {
    return fail(error, MOTE_INVALID_ARGUMENT, "the backend was made for another model");
  }
  if (backend->slices == 0 || backend->slices > MOTE_BACKEND_MOST_SLICES || backend->run_linear == nullptr) {
    return fail(error, MOTE_INVALID_ARGUMENT, "a backend of ", backend->slices, " slices, 1 to ",
                uint32_t{MOTE_BACKEND_MOST_SLICES}, " may be");
  }
  return MOTE_OK;
}

/// Of mote_kv_dtype, in its order. Columns lie side by side in the cache, so a head's width is a multiple.
constexpr struct {
  DType dtype;
  uint32_t side_by_side;
  const char* name;
} kKvTypes[] = {
    {}, {DType::f16, 1, "f16"}, {DType::f32, 1, "f32"}, {DType::bf16, 2, "bf16"}, {DType::i8, 4, "i8"}};

bool heads_fit(const mote_model& model, mote_kv_dtype type) {
  for (const file::State* cache : *model.root->states()) {
    if (is_fixed(*cache)) continue;
    const uint32_t side_by_side = kKvTypes[type].side_by_side;
    if (cache->key_dim() % side_by_side != 0 || cache->value_dim() % side_by_side != 0) return false;
  }
  return true;
}

bool is_fast(const mote_model& model, mote_kv_dtype type, Isa isa) {
  const KernelEntry* attention = find_kernel(Op::kAttention, DType::f32, kKvTypes[type].dtype, isa);
  return attention->isa != Isa::kRef && heads_fit(model, type);
}

/// What MOTE_KV_AUTO stands for (mote.h).
mote_kv_dtype best_kv(const mote_model& model, Isa isa) {
  if (model.first_linear == DType::f32) return MOTE_KV_F32;
  // Weights of 8 bits below a head of more are exact (BitNet's): nothing else is to be rounded.
  if (!model.encoder && model.first_linear == DType::q8c && activation_dtype(model.last_linear) == DType::f32)
    return MOTE_KV_F32;
  if (!model.encoder || model.first_linear == DType::f16 || has_relative_queries(model)) return MOTE_KV_F16;
  for (const mote_kv_dtype type : {MOTE_KV_I8, MOTE_KV_BF16}) {
    if (is_fast(model, type, isa)) return type;
  }
  return MOTE_KV_F16;
}

mote_status resolve_kv(mote_session* session, mote_error* error) {
  mote_kv_dtype& chosen = session->options.kv_dtype;
  std::underlying_type_t<mote_kv_dtype> bits;  // a caller in C may have put any number there
  memcpy(&bits, &chosen, sizeof bits);
  const auto given = static_cast<uint32_t>(bits);
  if (given >= sizeof kKvTypes / sizeof kKvTypes[0])
    return fail(error, MOTE_INVALID_ARGUMENT, "unknown KV cache type ", given);
  if (chosen == MOTE_KV_AUTO) chosen = best_kv(*session->model, session->isa);
  session->kv_dtype = kKvTypes[chosen].dtype;
  if (heads_fit(*session->model, chosen)) return MOTE_OK;
  return fail(error, MOTE_INVALID_ARGUMENT, "a KV cache of ", kKvTypes[chosen].name,
              " takes heads whose width is a multiple of ", kKvTypes[chosen].side_by_side, "; use f16");
}

/// Rows of floats may be few samples each, of which a sound has many; an encoder reads a long text at once.
uint32_t most_chunk(const mote_model& model) {
  for (const file::Program* program : *model.root->programs()) {
    if (is_whole(*program) && (model.encoder || input_width(*program) != 0)) return kMaxFloatRows;
  }
  return kMaxChunk;
}

/// Fills in what the options leave open; says what is wrong with them.
mote_status resolve(const mote_model* model, const mote_session_options* given, mote_session* session,
                    mote_error* error) {
  if (model == nullptr || given == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  mote_session_options& options = session->options;
  options = *given;
  session->model = model;
  const uint32_t trained = model->root->context();
  if (options.context == 0 || options.context > trained) {
    return fail(error, MOTE_INVALID_ARGUMENT, "context of ", options.context, ", this model takes 1 to ",
                trained);
  }
  const uint32_t most = most_chunk(*model);
  if (options.batch == 0 || options.batch > kMaxChunk || options.chunk < options.batch ||
      options.chunk > most) {
    return fail(error, MOTE_INVALID_ARGUMENT, "chunk of ", options.chunk, " for ", options.batch,
                " sequences; it must be at least their number, which is at least 1, and at most ", most);
  }
  if (options.logit_rows < options.batch || options.logit_rows > options.chunk) {
    return fail(error, MOTE_INVALID_ARGUMENT, options.logit_rows,
                " rows of logits; from the number of sequences, ", options.batch, ", to the chunk, ",
                options.chunk);
  }
  if (options.kv_positions != 0 && model->encoder) {
    return fail(error, MOTE_INVALID_ARGUMENT, "kv_positions of ", options.kv_positions,
                " for an encoder, which keeps no tokens; leave it 0");
  }
  if (options.text_bytes > kMaxTextBytes) {
    return fail(error, MOTE_INVALID_ARGUMENT, "text_bytes of ", options.text_bytes, ", at most ",
                kMaxTextBytes);
  }
  const uint32_t available =
      !kHasThreads || options.platform.parallel_for == nullptr || options.platform.threads == 0
          ? 1
          : options.platform.threads;
  if (options.threads == 0) options.threads = available;
  if (options.threads > available || options.threads > kMaxThreads) {
    return fail(error, MOTE_INVALID_ARGUMENT, options.threads, " threads, the platform offers ", available);
  }
  if (options.decode_threads == 0) options.decode_threads = options.threads;
  if (options.decode_threads > options.threads) {
    return fail(error, MOTE_INVALID_ARGUMENT, options.decode_threads,
                " threads to decode; at most as many as else, ", options.threads);
  }
  const mote_status backend = check_backend(model, options.backend, error);
  if (backend != MOTE_OK) return backend;
  if (!kHasTraces && options.trace != nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "this build calls no trace");

  const mote_isa isa = options.isa != MOTE_ISA_AUTO ? options.isa : options.platform.isa;
  session->isa = best_isa();
  if (isa != MOTE_ISA_AUTO) {
    if (!isa_from_public(isa, &session->isa)) {
      char names[128];
      ErrorText list(names, sizeof names);
      for (const Family& one : kFamilies) {
        if (one.isa != kFamilies[0].isa) list.add(", ");
        list.add(one.name);
      }
      return fail(error, MOTE_UNSUPPORTED_ISA, "MOTE_ISA names no kernel family; use one of ", names);
    }
    if (!isa_available(session->isa)) {
      return fail(error, MOTE_UNSUPPORTED_ISA, "this CPU or build has no ", isa_name(session->isa),
                  " kernels; the best here are ", isa_name(best_isa()));
    }
  }
  options.isa = isa_to_public(session->isa);
  return resolve_kv(session, error);
}

/// The steps of a program, `steps` being its first.
mote_status bind_steps(const mote_session& s, const Places& places, Step* steps, mote_error* error) {
  const uint32_t count = places.program->ops()->size();
  for (uint32_t i = 0; i < count; ++i) {
    const mote_status status = bind(*s.model, places, i, &steps[i], error);
    if (status != MOTE_OK) return status;
  }
  chain_steps(places, steps, count);
  return MOTE_OK;
}

// Out of line: its places are not to be on a small stack while the session is laid out.
[[gnu::noinline]] mote_status bind_program(mote_session* s, ProgramSteps* program, mote_error* error) {
  set_program(*s, *program->file, &s->places);
  const uint32_t count = program->end - program->first;
  mote_status status = bind_steps(*s, s->places, s->steps + program->first, error);
  if (status == MOTE_OK && kHasThreads && s->least_lane != UINT32_MAX) {
    Places first_lane = s->places;
    first_lane.streams[kTokens].rows = rows_of_lane(s->places.streams[kTokens].rows, s->options.threads);
    status = bind_steps(*s, first_lane, s->lane_steps + program->first, error);
    if (status == MOTE_OK) part_steps(s->lane_steps + program->first, count);
  }
  if (status != MOTE_OK) return status;
  uint32_t stream;
  return bind_slice(*s->model, s->places, count - 1, program->file->output(), &program->outputs, &stream,
                    error);
}

mote_status bind_all(mote_session* s, mote_error* error) {
  Places& places = s->places;  // whose streams have their places
  places.finds_kernels = true;
  places.isa = s->isa;
  places.kv_dtype = s->kv_dtype;
  places.backend = s->options.backend;
  places.ids = s->ids;
  places.token_types = s->token_types;
  places.next_global = s->next_global;
  places.memory_positions = s->memory_positions;
  places.memory_last = s->memory_last;
  places.inputs = s->inputs;
  places.selected = s->selected;
  places.caches = s->caches;
  places.pools = s->pools;
  places.pool_of = s->pool_of;
  places.partials = s->partials;
  places.first_seen = s->first_seen;
  places.fixed_states = s->fixed.views;
  places.by_sequence = {s->fixed.sequences, s->fixed.first, s->fixed.next, s->positions};
  for (uint32_t i = 0; i < s->model->root->programs()->size(); ++i) {
    const mote_status status = bind_program(s, &s->programs[i], error);
    if (status != MOTE_OK) return status;
  }
  return MOTE_OK;
}

}  // namespace

const float* next_token_logits(const mote_session& session, uint32_t row) {
  return is_whole(*current(session).file) ? nullptr : mote_session_output(&session, row);
}

}  // namespace mote

using mote::fail;

extern "C" {

mote_session_options mote_session_options_default(const mote_model* model) {
  mote_session_options options{};
  const uint32_t trained = model->root->context();
  options.context = trained;
  if (mote::has_kv(*model->root) && trained > mote::kDefaultContext) options.context = mote::kDefaultContext;
  options.chunk = mote::kDefaultChunk;
  options.batch = 1;
  options.logit_rows = 1;
  if (model->encoder) {  // a run takes whole sequences
    options.chunk = options.context;
    const bool masked = model->program->output_kind() == mote::file::OutputKind::masked_token;
    const uint32_t rows = masked ? mote::kDefaultMaskedRows : options.chunk;
    options.logit_rows = rows < options.chunk ? rows : options.chunk;
  }
  for (const mote::file::Program* program : *model->root->programs()) {  // so does that of a source
    if (!model->sources || !mote::is_whole(*program)) continue;
    const uint32_t rows = mote::context_of(*model->root, *program);
    if (rows > options.chunk) options.chunk = rows < mote::kMaxChunk ? rows : mote::kMaxChunk;
  }
  options.text_bytes = model->tokenizer.tokens == 0 ? 0 : mote::kDefaultTextBytes;
  options.platform = mote_platform_default();
  return options;
}

mote_status mote_session_memory(const mote_model* model, const mote_session_options* options,
                                mote_memory* memory, mote_error* error) {
  mote_session session{};
  const mote_status status = mote::resolve(model, options, &session, error);
  if (status != MOTE_OK) return status;
  uint64_t bytes;
  return mote::count_bytes(&session, memory, &bytes, error);
}

size_t mote_session_bytes(const mote_model* model, const mote_session_options* options) {
  mote_memory memory;
  if (mote_session_memory(model, options, &memory, nullptr) != MOTE_OK) return 0;
  return static_cast<size_t>(memory.session + memory.activations + memory.scratch + memory.kv_cache +
                             memory.states + memory.sampler + memory.text);
}

mote_status mote_session_init(const mote_model* model, const mote_session_options* options, void* arena,
                              size_t arena_bytes, mote_session** session, mote_error* error) {
  if (arena == nullptr || session == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  if (reinterpret_cast<uintptr_t>(arena) % MOTE_ALIGNMENT != 0) {
    return fail(error, MOTE_NOT_ALIGNED, "the arena must be 64-byte aligned");
  }
  mote_session fresh{};
  mote_status status = mote::resolve(model, options, &fresh, error);
  if (status != MOTE_OK) return status;
  mote_memory memory;
  uint64_t bytes;
  status = mote::count_bytes(&fresh, &memory, &bytes, error);
  if (status != MOTE_OK) return status;
  if (arena_bytes < bytes) {
    return fail(error, MOTE_TOO_SMALL, "the arena has ", uint64_t{arena_bytes}, " bytes, these options take ",
                bytes);
  }
  mote::Arena parts(arena, bytes);
  status = mote::lay_out(parts, &fresh, &memory, error);
  if (status == MOTE_OK) status = mote::bind_all(&fresh, error);
  if (status != MOTE_OK) return status;
  memset(fresh.lengths, 0, sizeof(uint32_t) * fresh.options.batch);
  mote::clear_pages(&fresh);
  mote::clear_history(&fresh);
  mote::clear_segments(&fresh);
  fresh.sampler.vocab = model->root->vocab();
  if (!model->encoder) mote::sampler_start(&fresh.sampler, mote_sampling_default());
  *session = static_cast<mote_session*>(arena);
  **session = fresh;
  return MOTE_OK;
}

mote_isa mote_session_isa(const mote_session* session) { return session->options.isa; }

uint32_t mote_session_length(const mote_session* session, uint32_t sequence) {
  return sequence < session->options.batch ? session->lengths[sequence] : 0;
}

const float* mote_session_logits(const mote_session* session, uint32_t row) {
  return session->model->sources ? mote::next_token_logits(*session, row) : mote_session_output(session, row);
}

const float* mote_session_output(const mote_session* session, uint32_t row) {
  if (row >= session->logit_count || session->logit_index[row] < 0) return nullptr;
  return mote::current(*session).outputs[static_cast<size_t>(session->logit_index[row])];
}

mote_status mote_session_truncate(mote_session* session, uint32_t sequence, uint32_t length,
                                  mote_error* error) {
  if (sequence >= session->options.batch) {
    return fail(error, MOTE_INVALID_ARGUMENT, "sequence ", sequence, " of ", session->options.batch);
  }
  const uint32_t present = session->lengths[sequence];
  if (length > present)
    return fail(error, MOTE_INVALID_ARGUMENT, "cannot truncate ", present, " tokens to ", length);
  const char* kind = mote::kind_without_past(*session->model->root);
  if (kind != nullptr && length != 0 && length != present) {
    return fail(error, MOTE_INVALID_ARGUMENT, "cannot truncate ", present, " tokens to ", length,
                ": a state of kind ", kind, " keeps no earlier tokens; truncate to 0");
  }
  const uint32_t segment = mote::segment_start(*session, sequence);
  if (length != 0 && length < segment) {
    return fail(error, MOTE_INVALID_ARGUMENT, "cannot truncate to ", length, ": the segment begins at ",
                segment, "; truncate to 0");
  }
  if (length != 0 && length < mote_session_shortest(session, sequence)) {
    return fail(error, MOTE_INVALID_ARGUMENT, "cannot truncate to ", length,
                ": the sliding window has dropped earlier tokens; truncate to 0 or by less than ",
                mote::kRollback);
  }
  mote::end_run(session);
  if (length == 0) mote::forget_segment(session, sequence);
  session->lengths[sequence] = length;
  mote::trim_pages(session, sequence);
  return MOTE_OK;
}

uint32_t mote_session_shortest(const mote_session* session, uint32_t sequence) {
  const uint32_t length = mote_session_length(session, sequence);
  if (length == 0 || mote::kind_without_past(*session->model->root) != nullptr) return length;
  const uint32_t kept = mote::shortest_kv(session, sequence),
                 segment = mote::segment_start(*session, sequence);
  return kept > segment ? kept : segment;
}

mote_status mote_session_fork(mote_session* session, uint32_t from, uint32_t to, mote_error* error) {
  const mote_status status = mote::check_decoder(session, error);
  if (status != MOTE_OK) return status;
  if (from >= session->options.batch || to >= session->options.batch) {
    return fail(error, MOTE_INVALID_ARGUMENT, "sequences ", from, " and ", to, " of ",
                session->options.batch);
  }
  mote::end_run(session);
  mote::copy_history(session, from, to);
  mote::copy_segment(session, from, to);
  mote::copy_fixed_states(session, from, to);
  mote::copy_sequence(session, from, to);
  return MOTE_OK;
}

mote_status mote_session_reorder(mote_session* session, const uint32_t* from, mote_error* error) {
  const mote_status status = mote::check_decoder(session, error);
  if (status != MOTE_OK) return status;
  const uint32_t batch = session->options.batch;
  for (uint32_t i = 0; from == nullptr || i < batch; ++i) {
    if (from == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
    if (from[i] >= batch) return fail(error, MOTE_INVALID_ARGUMENT, "sequence ", from[i], " of ", batch);
  }
  mote::end_run(session);
  mote::reorder_history(session, from);
  mote::reorder_segments(session, from);
  mote::reorder_fixed_states(session, from);
  mote::reorder_sequences(session, from);
  return MOTE_OK;
}

uint32_t mote_session_free_positions(const mote_session* session) {
  uint64_t least = UINT32_MAX;
  for (uint32_t p = 0; p < session->pool_count; ++p) {
    const mote::PagePool& pool = session->pools[p];
    if (pool.kind.source != -1 || (pool.kind.of_run && !session->model->encoder)) continue;
    const uint64_t positions = uint64_t{pool.free_count} * pool.page_positions;
    if (positions < least) least = positions;
  }
  return static_cast<uint32_t>(least);
}

}  // extern "C"
