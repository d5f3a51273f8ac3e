// SPDX-License-Identifier: Apache-2.0
#include "runtime/file/model.h"

#include <string.h>

#include "mote/beams.h"
#include "runtime/error.h"
#include "runtime/exec/bind.h"
#include "runtime/exec/saturating.h"
#include "runtime/file/features.h"
#include "runtime/file/pass_check.h"
#include "runtime/file/rows.h"
#include "runtime/file/states.h"
#include "runtime/file/xxh64.h"
#include "runtime/ops/ops.h"

namespace mote {
namespace {

constexpr uint32_t kPrefixBytes = 4;
constexpr uint32_t kMinMetadataBytes = 16;
// A model nests four tables deep; a table is a tensor, an op with its arguments, a buffer, a cache or a
// source.
constexpr uint32_t kMaxDepth = 8;
constexpr uint32_t kMaxTables = 1u << 18;

mote_status find_parts(const uint8_t* data, uint64_t bytes, mote_model* model, mote_error* error) {
  if (bytes < kMinMetadataBytes) {
    return fail(error, MOTE_TRUNCATED, "a .mote file has at least 16 bytes, this one ", bytes);
  }
  if (!flatbuffers::BufferHasIdentifier(data, file::ModelIdentifier(), true)) {
    return fail(error, MOTE_NOT_A_MODEL, "not a .mote file: its identifier is missing");
  }
  const uint64_t metadata = uint64_t{flatbuffers::GetPrefixedSize(data)} + kPrefixBytes;
  if (metadata > bytes) {
    return fail(error, MOTE_TRUNCATED, "the metadata takes ", metadata, " bytes, the file has ", bytes);
  }
  flatbuffers::Verifier verifier(data, static_cast<size_t>(metadata), kMaxDepth, kMaxTables);
  if (!file::VerifySizePrefixedModelBuffer(verifier)) {
    return fail(error, MOTE_CORRUPT_FILE, "the metadata is not a valid FlatBuffer");
  }
  model->root = file::GetSizePrefixedModel(data);
  if (model->root->format_version() != kFormatVersion) {
    return fail(error, MOTE_UNSUPPORTED_FILE, "format version ", model->root->format_version(),
                ", this build reads ", kFormatVersion);
  }
  const uint64_t segment = align_up(metadata, kAlignment);
  const uint64_t segment_bytes = model->root->segment_bytes();
  if (segment > bytes || segment_bytes > bytes - segment) {
    return fail(error, MOTE_TRUNCATED, "the weights take ", segment_bytes, " bytes from byte ", segment,
                " on, the file has ", bytes);
  }
  model->segment = data + segment;
  return MOTE_OK;
}

mote_status check_counts(const file::Model& root, mote_error* error) {
  if (root.vocab() == 0 || root.vocab() > kMaxWidth) {
    return fail(error, MOTE_CORRUPT_FILE, "vocabulary of ", root.vocab());
  }
  if (root.context() == 0 || root.context() > kMaxContext) {
    return fail(error, MOTE_CORRUPT_FILE, "context of ", root.context());
  }
  if (root.tensors()->size() > kMaxTensors || root.states()->size() > kMaxStates) {
    return fail(error, MOTE_CORRUPT_FILE, root.tensors()->size(), " tensors, ", root.states()->size(),
                " states");
  }
  const uint32_t labels = size_of(root.labels());
  if (root.token_types() == 0 || root.token_types() > kMaxTokenTypes || labels > kMaxLabels) {
    return fail(error, MOTE_CORRUPT_FILE, root.token_types(), " token types, ", labels, " labels");
  }
  if (size_of(root.stop_ids()) > kMaxStopIds)
    return fail(error, MOTE_CORRUPT_FILE, size_of(root.stop_ids()), " stop ids, there may be ", kMaxStopIds);
  const uint64_t unknown =
      static_cast<uint64_t>(root.required_features()) & ~static_cast<uint64_t>(file::Feature::ANY);
  if (unknown != 0) {
    return fail(error, MOTE_UNSUPPORTED_FILE, "the file needs feature ", uint32_t(__builtin_ctzll(unknown)),
                ", which this build does not know; a newer mote made it");
  }
  return MOTE_OK;
}

mote_status check_tensor(const mote_model& model, uint32_t index, bool hash, mote_error* error) {
  const file::Tensor* tensor = model.root->tensors()->Get(index);
  const char* name = tensor->name()->c_str();
  const uint64_t rows = tensor->rows();
  const uint64_t cols = tensor->cols();
  if (rows == 0 || cols == 0 || rows > kMaxWidth || cols > kMaxWidth) {
    return fail(error, MOTE_CORRUPT_FILE, "tensor ", name, ": shape ", rows, " x ", cols);
  }
  const bool row_major = tensor->packing() == file::Packing::rows;
  const DType dtype = static_cast<DType>(tensor->dtype());
  if (tensor->dtype() > file::DType::MAX || tensor->packing() > file::Packing::MAX ||
      (row_major && row_bytes(dtype, cols) == 0)) {
    return fail(error, MOTE_UNSUPPORTED_FILE, "tensor ", name, ": unknown type");
  }
  const uint64_t expected = row_major ? row_major_bytes(dtype, rows, cols) : packed_bytes(dtype, rows, cols);
  if (tensor->bytes() != expected) {
    return fail(error, MOTE_CORRUPT_FILE, "tensor ", name, ": ", tensor->bytes(), " bytes, its shape takes ",
                expected);
  }
  const uint64_t segment_bytes = model.root->segment_bytes();
  if (tensor->offset() % kAlignment != 0 || tensor->bytes() > segment_bytes ||
      tensor->offset() > segment_bytes - tensor->bytes()) {
    return fail(error, MOTE_CORRUPT_FILE, "tensor ", name, ": lies outside the weights");
  }
  if (hash &&
      xxh64(model.segment + tensor->offset(), static_cast<size_t>(tensor->bytes())) != tensor->xxh64()) {
    return fail(error, MOTE_CORRUPT_FILE, "tensor ", name, ": hash differs; copy or download the file again");
  }
  return MOTE_OK;
}

/// Also that tensors share no bytes: with their hashes, opening would take as long as all of them together.
mote_status check_tensors(const mote_model& model, bool hashes, mote_error* error) {
  const auto& tensors = *model.root->tensors();
  uint64_t bytes = 0;
  for (const file::Tensor* tensor : tensors) bytes = saturating_add(bytes, tensor->bytes());
  if (bytes > model.root->segment_bytes()) {
    return fail(error, MOTE_CORRUPT_FILE, "the tensors take ", bytes, " bytes, the weights have ",
                model.root->segment_bytes(), ": tensors overlap");
  }
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    const mote_status status = check_tensor(model, i, hashes, error);
    if (status != MOTE_OK) return status;
  }
  return MOTE_OK;
}

/// Checks that the output's rows are what the program says they are.
mote_status check_output(const mote_model& model, const file::Program& program, file::StreamKind rows,
                         mote_error* error) {
  const uint32_t width = program.output()->width();
  const file::OutputKind kind = program.output_kind();
  if (kind > file::OutputKind::MAX || program.probabilities() > file::Probabilities::MAX) {
    return fail(error, MOTE_UNSUPPORTED_FILE,
                "the output is of an unknown kind; a newer mote made this file");
  }
  const bool of_sequences = kind == file::OutputKind::sequence_labels || kind == file::OutputKind::embedding;
  const bool of_vocab = kind == file::OutputKind::next_token || kind == file::OutputKind::masked_token;
  const bool of_labels = kind == file::OutputKind::sequence_labels || kind == file::OutputKind::token_labels;
  bool fits = rows == (of_sequences ? file::StreamKind::sequence : file::StreamKind::selected);
  fits = fits && is_whole(program) == (kind != file::OutputKind::next_token);
  if (of_vocab) fits = fits && width == model.root->vocab();
  constexpr uint32_t kBesidesLabels = 5;  // none, and a box
  if (kind == file::OutputKind::boxes)
    fits = fits && size_of(model.root->labels()) != 0 &&
           uint64_t{size_of(model.root->labels())} + kBesidesLabels == width;
  if (kind == file::OutputKind::depth) {
    const file::Picture* picture = model.root->picture();
    fits = fits && picture != nullptr && uint64_t{picture->patch()} * picture->patch() == width;
  }
  if (kind == file::OutputKind::answer_span) fits = fits && width == 2;
  if (of_labels) fits = fits && size_of(model.root->labels()) == width;
  if (fits) return MOTE_OK;
  return fail(error, MOTE_CORRUPT_FILE, "the output is not what its kind, ", file::EnumNameOutputKind(kind),
              ", says");
}

/// Keys and values outlive a run where rows are appended, or where they are a source; a window is for the
/// former alone.
mote_status check_caches(const mote_model& model, mote_error* error) {
  const auto* programs = model.root->programs();
  for (const file::State* cache : *model.root->states()) {
    if (model.encoder && is_fixed(*cache)) {
      return fail(error, MOTE_UNSUPPORTED_FILE, "an encoder with a state of kind ",
                  file::EnumNameStateKind(cache->kind()), "; a newer mote made this file");
    }
    if (is_fixed(*cache)) continue;
    const bool of_whole = cache->bidirectional();
    const int32_t source = cache->source();
    if (cache->memory() != 0 && (!model.encoder || programs->size() != 1))
      return fail(error, MOTE_CORRUPT_FILE, "a memory is of encoders of one program");
    bool fits = of_whole ? (model.encoder || model.sources) && cache->window() == 0 : !model.encoder;
    if (source != -1) {
      fits = fits && of_whole && model.sources && source > 0 &&
             static_cast<uint32_t>(source) < programs->size() &&
             is_whole(*programs->Get(static_cast<uint32_t>(source)));
    }
    if (!fits) return fail(error, MOTE_CORRUPT_FILE, "a KV cache is of another kind than the program");
  }
  return MOTE_OK;
}

mote_status check_program(mote_model* model, const file::Program& program, mote_error* error) {
  if (program.ops()->size() == 0 || program.ops()->size() > kMaxOps) {
    return fail(error, MOTE_CORRUPT_FILE, "a program of ", program.ops()->size(), " operations");
  }
  Places nowhere{};
  nowhere.program = &program;
  nowhere.proving = true;
  bool found_linear = &program != model->program;
  uint32_t inputs = 0;
  PassCheck passes;
  StateUses uses(*model->root);
  uint32_t selected = kMaxStreams;  // the stream of which outputs are
  for (uint32_t i = 0; i < program.ops()->size(); ++i) {
    Step step;
    const mote_status status = bind(*model, nowhere, i, &step, error);
    if (status != MOTE_OK) return status;
    passes.add(step);
    const mote_status stored = uses.add(program, i, step, error);
    if (stored != MOTE_OK) return stored;
    if (step.op == Op::kSelect && selected == kMaxStreams) selected = step.reads_stream;
    if (step.op == Op::kSelect && step.reads_stream != selected)
      return fail(error, MOTE_CORRUPT_FILE, "op ", i, " Select: takes rows of another stream than the first");
    if (step.op == Op::kInput) {
      if (inputs != 0 && inputs != step.input.width) {
        return fail(error, MOTE_CORRUPT_FILE, "a program with inputs of ", inputs, " and ", step.input.width,
                    " floats");
      }
      inputs = step.input.width;
    }
    if (step.op == Op::kLinear) {
      const auto* linear = program.ops()->Get(i)->args_as_Linear();
      model->last_linear =
          static_cast<DType>(model->root->tensors()->Get(static_cast<uint32_t>(linear->weight()))->dtype());
      if (!found_linear) model->first_linear = model->last_linear;
      found_linear = true;
    }
  }
  if (is_whole(program) && inputs != 0 && takes_ids(program))
    return fail(error, MOTE_CORRUPT_FILE, "a program of whole sequences takes both ids and floats");
  mote_status status = uses.check_fixed(program, error);
  if (status != MOTE_OK) return status;
  model->in_passes = model->in_passes && passes.allowed();
  const uint32_t last = program.ops()->size() - 1;
  ConstRows rows;
  uint32_t stream;
  status = bind_slice(*model, nowhere, last, program.output(), &rows, &stream, error);
  if (status != MOTE_OK) return status;
  status = check_output(*model, program, program.streams()->Get(stream)->kind(), error);
  if (status != MOTE_OK) return status;
  uint32_t after = 0;
  for (uint32_t i = 0; kHasTraces && i < size_of(program.probes()); ++i) {
    const file::Probe* probe = program.probes()->Get(i);
    if (probe->op() > last || probe->op() < after)
      return fail(error, MOTE_CORRUPT_FILE, "probe ", i, " follows operation ", probe->op());
    after = probe->op();
    status = bind_slice(*model, nowhere, probe->op(), probe->value(), &rows, &stream, error);
    if (status != MOTE_OK) return status;
  }
  return MOTE_OK;
}

/// Which kinds of programs there are.
mote_status check_kinds(mote_model* model, mote_error* error) {
  const auto* programs = model->root->programs();
  model->encoder = is_whole(*model->program);
  for (const file::Program* program : *programs) {
    if (program->kind() > file::ProgramKind::MAX || (model->encoder && !is_whole(*program))) {
      return fail(error, MOTE_UNSUPPORTED_FILE, "program ", program->name()->c_str(),
                  " is of an unknown kind, or appends rows but is not the first");
    }
    if (!kHasWholeSequences && program->kind() != file::ProgramKind::append) {
      return fail(error, MOTE_UNSUPPORTED_FILE,
                  "the build, for another model, has no programs of whole sequences");
    }
    model->sources = model->sources || (!model->encoder && is_whole(*program));
  }
  for (const file::Program* program : *programs) {
    if (program->context() == 0) continue;
    const bool further = model->sources || (model->encoder && program != model->program);
    if (program->context() <= kMaxContext && further && is_whole(*program)) continue;
    return fail(error, MOTE_CORRUPT_FILE, "program ", program->name()->c_str(), " has a context of ",
                program->context());
  }
  return MOTE_OK;
}

/// All programs.
mote_status check_programs(mote_model* model, mote_error* error) {
  const auto* programs = model->root->programs();
  if (programs->size() == 0 || programs->size() > kMaxPrograms) {
    return fail(error, MOTE_CORRUPT_FILE, programs->size(), " programs");
  }
  model->program = programs->Get(0);
  for (const file::Program* program : *programs) {
    const mote_status known = check_operations(*program, error);
    if (known != MOTE_OK) return known;
  }
  mote_status status = check_kinds(model, error);
  model->in_passes = model->encoder;
  for (const file::State* state : *model->root->states())
    model->in_passes = model->in_passes && state->memory() == 0;
  if (status == MOTE_OK) status = check_caches(*model, error);
  for (uint32_t i = 0; status == MOTE_OK && i < programs->size(); ++i) {
    const file::Program& program = *programs->Get(i);
    status = check_program_rows(*model, program, error);
    if (status != MOTE_OK) return status;
    model->kept[i] = find_kept_streams(program);
    status = check_program(model, program, error);
  }
  if (status == MOTE_OK && kProvesWrites) status = check_stored(*model, error);
  return status;
}

mote_status verify(const uint8_t* data, uint64_t bytes, bool hashes, mote_model* model, mote_error* error) {
  memset(static_cast<void*>(model), 0, sizeof *model);
  mote_status status = find_parts(data, bytes, model, error);
  if (status == MOTE_OK) status = check_counts(*model->root, error);
  if (status == MOTE_OK) status = check_choosing(*model->root, error);
  if (status == MOTE_OK) status = check_texts(*model->root, error);
  if (status == MOTE_OK) status = check_states(*model->root, error);
  if (status == MOTE_OK) status = check_tensors(*model, hashes, error);
  if (status != MOTE_OK) return status;
  status = check_programs(model, error);
  if (status == MOTE_OK) status = check_media(*model, error);
  if (status == MOTE_OK && kProvesTask) status = check_task(*model, error);
  if (status == MOTE_OK) status = check_self_test(*model, error);
  if (status == MOTE_OK && model->root->tokenizer() != nullptr) {
    const bool more = (model->root->required_features() & file::Feature::more_tokens) != file::Feature::NONE;
    status = open_tokenizer(*model->root->tokenizer(), {model->segment, model->root->segment_bytes()},
                            model->root->vocab(), more, hashes, &model->tokenizer, error);
  }
  return status;
}

#ifdef MOTE_SMALL_STACK
/// Verifies in place: a model is a quarter of a microcontroller's stack.
mote_status open(const uint8_t* data, uint64_t bytes, bool hashes, mote_model* model, mote_error* error) {
  return verify(data, bytes, hashes, model, error);
}
#else
/// Verifies beside the storage: the model that it may hold stays where its successor is refused.
mote_status open(const uint8_t* data, uint64_t bytes, bool hashes, mote_model* model, mote_error* error) {
  mote_model fresh;
  const mote_status status = verify(data, bytes, hashes, &fresh, error);
  if (status == MOTE_OK) *model = fresh;
  return status;
}
#endif

}  // namespace
}  // namespace mote

using mote::fail;

extern "C" {

const char* mote_version(void) { return MOTE_VERSION; }

size_t mote_model_bytes(void) { return MOTE_MODEL_BYTES; }

mote_status mote_model_open(const void* data, size_t bytes, uint32_t flags, void* storage,
                            size_t storage_bytes, mote_model** model, mote_error* error) {
  if (data == nullptr || storage == nullptr || model == nullptr) {
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_model_open: null pointer");
  }
  if (reinterpret_cast<uintptr_t>(data) % MOTE_ALIGNMENT != 0 ||
      reinterpret_cast<uintptr_t>(storage) % 8 != 0) {
    return fail(error, MOTE_NOT_ALIGNED, "the file's bytes must be 64-byte aligned, the storage 8");
  }
  if (storage_bytes < MOTE_MODEL_BYTES) {
    return fail(error, MOTE_TOO_SMALL, "the model's storage has ", uint64_t{storage_bytes},
                " bytes, it takes ", uint64_t{MOTE_MODEL_BYTES});
  }
  if ((flags & ~static_cast<uint32_t>(MOTE_OPEN_CHECK_HASHES)) != 0) {
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_model_open: unknown flags ", flags);
  }
  const bool hashes = (flags & MOTE_OPEN_CHECK_HASHES) != 0;
  const auto* file = static_cast<const uint8_t*>(data);
  auto* opened = static_cast<mote_model*>(storage);
  const mote_status status = mote::open(file, bytes, hashes, opened, error);
  if (status != MOTE_OK) return status;
  *model = opened;
  return MOTE_OK;
}

void mote_model_get_info(const mote_model* model, mote_model_info* info) {
  const mote::file::Model* root = model->root;
  *info = {};
  info->name = root->name()->c_str();
  info->architecture = root->architecture()->c_str();
  info->vocab = root->vocab();
  info->width = root->width();
  info->context = root->context();
  for (const mote::file::Op* op : *model->program->ops()) info->layers += op->args_as_Attention() != nullptr;
  info->bos_id = root->bos_id();
  info->stop_ids = mote::data_of(root->stop_ids());
  info->stop_count = mote::size_of(root->stop_ids());
  info->hash = root->content_hash();
  info->weight_bytes = root->segment_bytes();
  info->tokens = model->tokenizer.tokens;
}

}  // extern "C"
