// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/session_options.h"

#include <string.h>

#include <type_traits>

#include "runtime/error.h"
#include "runtime/exec/backend.h"
#include "runtime/exec/kv_state.h"
#include "runtime/exec/session.h"
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

/// The types of mote_kv_dtype, in its order. Columns lie side by side in the cache, so a head's width is a
/// multiple.
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

/// Returns the type that MOTE_KV_AUTO stands for (mote.h).
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

/// Returns the rows of an encoder's picture of its own size, which runs as a whole; 0: it takes none.
uint32_t rows_of_picture(const mote_model& model) {
  const file::Picture* picture = kHasMedia && model.encoder ? model.root->picture() : nullptr;
  if (picture == nullptr) return 0;
  const uint32_t patches = picture->height() / picture->patch() * (picture->width() / picture->patch());
  return picture->before() + patches + picture->after();
}

}  // namespace

mote_status resolve_options(const mote_model* model, const mote_session_options* given, mote_session* session,
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

}  // namespace mote

extern "C" {

mote_session_options mote_session_options_default(const mote_model* model) {
  mote_session_options options{};
  const uint32_t trained = model->root->context();
  options.context = trained;
  if (mote::has_kv(*model->root) && trained > mote::kDefaultContext) options.context = mote::kDefaultContext;
  if (const uint32_t rows = mote::rows_of_picture(*model); rows > options.context) options.context = rows;
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

}  // extern "C"
