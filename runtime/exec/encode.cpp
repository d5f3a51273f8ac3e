// SPDX-License-Identifier: Apache-2.0
//
// Whole sequences in, rows of outputs out: encoders.
#include <math.h>
#include <string.h>

#include "runtime/error.h"
#include "runtime/exec/compute.h"
#include "runtime/exec/encode.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/grids.h"
#include "runtime/exec/kv_state.h"
#include "runtime/exec/memory.h"

namespace mote {
namespace {

bool of_sequences(const file::Program& program) {
  const file::OutputKind kind = program.output_kind();
  return kind == file::OutputKind::sequence_labels || kind == file::OutputKind::embedding;
}

mote_status check_types(const mote_session* session, const int32_t* types, uint32_t n, mote_error* error) {
  const uint32_t known = session->model->root->token_types();
  for (uint32_t i = 0; types != nullptr && i < n; ++i) {
    if (types[i] < 0 || static_cast<uint32_t>(types[i]) >= known) {
      return fail(error, MOTE_INVALID_ARGUMENT, "token ", i, " is of type ", types[i],
                  ", this model has 0 to ", known - 1);
    }
  }
  return MOTE_OK;
}

/// The program that mote_encode runs.
const file::Program& encoding_program(const mote_session* session) {
  return *session->programs[whole_program(*session->model)].file;
}

/// A sequence whose tokens were computed from a source cannot get another.
mote_status check_source(const mote_session* session, uint32_t program, uint32_t sequence,
                         mote_error* error) {
  if (!session->programs[program].keeps || session->lengths[sequence] == 0) return MOTE_OK;
  return fail(error, MOTE_WRONG_STATE, "sequence ", sequence, " has ", session->lengths[sequence],
              " tokens, which attend to its source; truncate it to 0 before it gets another");
}

/// Says whether outputs are of the rows of groups, all of them.
bool of_groups(const mote_session* session, uint32_t program) {
  return session->programs[program].selects != kTokens;
}

/// Rows with outputs of a sequence of so many tokens, where they are of groups.
uint32_t groups_of_sequence(const mote_session* session, uint32_t program, uint32_t tokens) {
  const ProgramSteps& steps = session->programs[program];
  return rows_of_sequence(*steps.file, steps.selects, tokens);
}

mote_status check_least(const file::Program& program, uint32_t sequence, uint32_t tokens, mote_error* error) {
  const uint32_t least = least_tokens(program);
  if (tokens >= least) return MOTE_OK;
  return fail(error, MOTE_INVALID_ARGUMENT, "sequence ", sequence, " has ", tokens,
              " rows; this model needs at least ", least);
}

mote_status fail_room(const mote_session* session, uint64_t outputs, mote_error* error) {
  return fail(error, MOTE_INVALID_ARGUMENT, "outputs of ", outputs, " rows, the session has room for ",
              session->options.logit_rows);
}

/// Returns the patches in a line of the sequence's picture; 0: the model's own.
uint32_t columns_of(const mote_batch& batch, uint32_t sequence) {
  return batch.columns == nullptr ? 0 : batch.columns[sequence];
}

/// Checks that the sequences fit a run; *total becomes the number of their tokens.
mote_status check_lengths(const mote_session* session, const mote_batch& batch, uint32_t* total,
                          mote_error* error) {
  const mote_session_options& options = session->options;
  if (batch.count == 0 || batch.count > options.batch) {
    return fail(error, MOTE_INVALID_ARGUMENT, batch.count, " sequences, the session takes 1 to ",
                options.batch);
  }
  const uint32_t longest = most_rows_of_sequence(*session, encoding_program(session));
  uint64_t tokens = 0;
  for (uint32_t i = 0; i < batch.count; ++i) {
    if (batch.lengths[i] == 0) return fail(error, MOTE_INVALID_ARGUMENT, "sequence ", i, " has no tokens");
    if (batch.lengths[i] > longest) {
      return fail(error, MOTE_CONTEXT_FULL, "sequence ", i, " has ", batch.lengths[i],
                  " tokens; this session reads at most ", longest, " at once");
    }
    tokens += batch.lengths[i];
    mote_status status = check_source(session, whole_program(*session->model), i, error);
    if (status == MOTE_OK) status = check_least(encoding_program(session), i, batch.lengths[i], error);
    if (status == MOTE_OK) status = check_grid(*session, i, batch.lengths[i], columns_of(batch, i), error);
    if (status != MOTE_OK) return status;
  }
  if (tokens > options.chunk) {
    return fail(error, MOTE_INVALID_ARGUMENT, "the sequences have ", tokens,
                " tokens together, the session computes ", options.chunk, " at once; give fewer sequences");
  }
  *total = static_cast<uint32_t>(tokens);
  return MOTE_OK;
}

/// Tokens with outputs: of a model that decodes, whose sources are encoded for what is kept of them, none
/// unless asked for.
uint32_t count_outputs(const mote_session* session, const mote_batch& batch, uint32_t total) {
  if (batch.rows != nullptr) return batch.row_count;
  return session->model->sources ? 0 : total;
}

/// Checks that the rows asked for are tokens of the run and have room.
mote_status check_rows(const mote_session* session, const mote_batch& batch, uint32_t total,
                       mote_error* error) {
  const uint32_t program = whole_program(*session->model);
  const bool groups = of_groups(session, program);
  if (groups || of_sequences(encoding_program(session))) {
    if (batch.rows != nullptr) {
      return fail(error, MOTE_INVALID_ARGUMENT, "this model's outputs are of ",
                  groups ? "groups" : "sequences", ", not of tokens: rows must be null");
    }
    uint64_t outputs = 0;  // none of a source's
    for (uint32_t i = 0; groups && !session->model->sources && i < batch.count; ++i)
      outputs += groups_of_sequence(session, program, batch.lengths[i]);
    return outputs > session->options.logit_rows ? fail_room(session, outputs, error) : MOTE_OK;
  }
  const uint32_t count = count_outputs(session, batch, total);
  if (count > session->options.logit_rows) {
    return fail(error, MOTE_INVALID_ARGUMENT, "outputs of ", count, " tokens, the session has room for ",
                session->options.logit_rows);
  }
  for (uint32_t i = 0; batch.rows != nullptr && i < count; ++i) {
    if (batch.rows[i] >= total) {
      return fail(error, MOTE_INVALID_ARGUMENT, "row ", batch.rows[i], " of ", total, " tokens");
    }
  }
  return MOTE_OK;
}

/// Checks that there are ids, or floats where the program takes those.
mote_status check_input(const mote_session* session, const mote_batch& batch, mote_error* error) {
  const bool floats = session->programs[whole_program(*session->model)].input_width != 0;
  if (floats ? batch.values != nullptr : batch.ids != nullptr && batch.values == nullptr) return MOTE_OK;
  return fail(error, MOTE_INVALID_ARGUMENT, "mote_encode: this model takes ", floats ? "values" : "ids");
}

mote_status check_batch(const mote_session* session, const mote_batch& batch, uint32_t* total,
                        mote_error* error) {
  mote_status status = check_input(session, batch, error);
  if (batch.continues > 1 || (batch.continues != 0 && memory_of(*session->model) == 0))
    return fail(error, MOTE_INVALID_ARGUMENT, "continues is ", batch.continues,
                "; it is 0, or 1 for a model with a memory");
  if (status == MOTE_OK) status = check_lengths(session, batch, total, error);
  if (status == MOTE_OK && batch.ids != nullptr) status = check_ids(session, batch.ids, *total, error);
  if (status == MOTE_OK) status = check_types(session, batch.token_types, *total, error);
  if (status == MOTE_OK) status = check_rows(session, batch, *total, error);
  return status;
}

/// Says which rows the public rows are.
void choose_outputs(mote_session* session, const mote_batch& batch, uint32_t total) {
  uint32_t count = batch.count;
  if (!of_sequences(encoding_program(session))) {
    const uint32_t program = whole_program(*session->model);
    count = of_groups(session, program) ? 0 : count_outputs(session, batch, total);
    for (uint32_t i = 0; of_groups(session, program) && !session->model->sources && i < batch.count; ++i)
      count += groups_of_sequence(session, program, batch.lengths[i]);
    for (uint32_t i = 0; i < count; ++i) session->selected[i] = batch.rows == nullptr ? i : batch.rows[i];
    session->run.selected_rows = count;
  }
  for (uint32_t i = 0; i < count; ++i) session->logit_index[i] = static_cast<int32_t>(i);
  session->run.outputs = count;
}

/// Tokens of the sequence whose first row is rows[first].
uint32_t length_at(const mote_row* rows, uint32_t count, uint32_t first) {
  uint32_t end = first + 1;
  while (end < count && rows[end].sequence == rows[first].sequence) ++end;
  return end - first;
}

/// Checks that the rows are whole sequences: of encoders 0, 1, ..., else any, each once.
mote_status check_sequences(const mote_session* session, uint32_t program, const mote_row* rows,
                            uint32_t count, mote_error* error) {
  const uint32_t batch = session->options.batch;
  const uint32_t longest = most_rows_of_sequence(*session, *session->programs[program].file);
  memset(session->asked, 0, batch * sizeof session->asked[0]);
  uint32_t sequences = 0;
  for (uint32_t first = 0; first < count; ++sequences) {
    const uint32_t length = length_at(rows, count, first), sequence = rows[first].sequence;
    if (session->model->encoder && (sequence != sequences || sequences == batch)) {
      return fail(error, MOTE_INVALID_ARGUMENT, "row ", first, " is of sequence ", sequence,
                  "; an encoder's rows are whole sequences 0, 1, ... in order, at most ", batch);
    }
    if (sequence >= batch || session->asked[sequence] != 0) {
      return fail(error, MOTE_INVALID_ARGUMENT, "row ", first, " is of sequence ", sequence, " of ", batch,
                  "; the program's rows are whole sequences, each once");
    }
    session->asked[sequence] = length;
    if (length > longest) {
      return fail(error, MOTE_CONTEXT_FULL, "sequence ", sequence, " has ", length,
                  " tokens; this session reads at most ", longest, " at once");
    }
    mote_status status = check_source(session, program, sequence, error);
    const file::Program& file = *session->programs[program].file;
    if (status == MOTE_OK) status = check_least(file, sequence, length, error);
    if (status == MOTE_OK) status = check_grid(*session, sequence, length, 0, error);
    if (status != MOTE_OK) return status;
    first += length;
  }
  return MOTE_OK;
}

/// Rows of groups that have outputs: all, or none.
uint64_t count_groups(const mote_session* session, const RowSource& source, uint32_t count) {
  uint64_t groups = 0;
  for (uint32_t first = 0; first < count;) {
    const uint32_t length = length_at(source.rows, count, first);
    if (source.rows[first].wants_output != 0) groups += groups_of_sequence(session, source.program, length);
    first += length;
  }
  return groups;
}

mote_status check_encoding(const mote_session* session, const RowSource& source, uint32_t count,
                           mote_error* error) {
  const mote_row* rows = source.rows;
  const file::Program& program = *session->programs[source.program].file;
  const mote_status sequences = check_sequences(session, source.program, rows, count, error);
  if (sequences != MOTE_OK) return sequences;
  uint64_t outputs = 0;
  const bool groups = of_groups(session, source.program), of_all = groups || of_sequences(program);
  for (uint32_t i = 0; i < count; ++i) {
    mote_status status = check_ids(session, &rows[i].id, 1, error);
    if (status == MOTE_OK) status = check_types(session, &rows[i].token_type, 1, error);
    if (status != MOTE_OK) return status;
    if (rows[i].wants_output > 1 || (of_all && rows[i].wants_output != rows[0].wants_output)) {
      return fail(error, MOTE_INVALID_ARGUMENT, "row ", i, " has wants_output ", rows[i].wants_output,
                  of_all ? "; outputs are not of tokens: it is the same, 0 or 1, for all" : ", it is 0 or 1");
    }
    outputs += rows[i].wants_output;
  }
  if (groups) outputs = count_groups(session, source, count);
  const bool fits = outputs <= session->options.logit_rows || (of_all && !groups);
  return fits ? MOTE_OK : fail_room(session, outputs, error);
}

/// In place; the largest logit is taken off first so that no exponential overflows.
void softmax(float* row, uint32_t width) {
  float largest = row[0], sum = 0;
  for (uint32_t i = 1; i < width; ++i) largest = row[i] > largest ? row[i] : largest;
  for (uint32_t i = 0; i < width; ++i) sum += row[i] = expf(row[i] - largest);
  for (uint32_t i = 0; i < width; ++i) row[i] /= sum;
}

}  // namespace

mote_status begin_encoding(mote_session* session, const RowSource& source, uint32_t count,
                           mote_error* error) {
  const mote_row* rows = source.rows;
  const file::Program& program = *session->programs[source.program].file;
  const mote_status status = check_encoding(session, source, count, error);
  if (status != MOTE_OK) return status;
  end_run(session);
  begin_run(session, source.program);
  begin_memory(session, false);
  Run& run = session->run;
  const bool groups = of_groups(session, source.program);
  for (uint32_t i = 0; i < count; ++i) {
    if (i == 0 || rows[i].sequence != rows[i - 1].sequence) {
      begin_sequence(session, rows[i].sequence, length_at(rows + i, count - i, 0));
    }
    if (rows[i].wants_output != 0 && !groups && !of_sequences(program))
      session->selected[run.selected_rows++] = i;
    if (source.values != nullptr) set_input(session, source.values + i * source.stride);
    add_token(session, rows[i].id, rows[i].token_type);
  }
  for (uint64_t i = groups ? count_groups(session, source, count) : 0; i > 0; --i, ++run.selected_rows)
    session->selected[run.selected_rows] = run.selected_rows;
  run.outputs = of_sequences(program) ? run.sequences : run.selected_rows;
  for (uint32_t i = 0; i < run.outputs; ++i) session->logit_index[i] = static_cast<int32_t>(i);
  begin_pass(session);
  return MOTE_OK;
}

}  // namespace mote

using mote::fail;

extern "C" {

void mote_model_get_output(const mote_model* model, mote_output_info* info) {
  *info = {};
  const mote::file::Model& root = *model->root;
  info->kind = static_cast<mote_output_kind>(model->program->output_kind());
  info->width = model->program->output()->width();
  info->of_sequences = mote::of_sequences(*model->program) ? 1 : 0;
  info->probabilities = static_cast<mote_probability_kind>(model->program->probabilities());
  info->token_types = root.token_types();
  info->global_type = root.globals() == nullptr ? 0 : root.globals()->type();
  info->memory = mote::memory_of(*model);
  info->labels = mote::size_of(root.labels());
}

uint32_t mote_model_output_rows(const mote_model* model, uint32_t rows) {
  if (!model->encoder && !model->sources) return 0;
  const mote::file::Program& program = *model->root->programs()->Get(mote::whole_program(*model));
  if (rows < mote::least_tokens(program)) return 0;
  return mote::of_sequences(program) ? 1 : mote::rows_of_sequence(program, mote::selected_of(program), rows);
}

const char* mote_model_label(const mote_model* model, uint32_t label) {
  const auto* labels = model->root->labels();
  return label >= mote::size_of(labels) ? nullptr : labels->Get(label)->c_str();
}

const char* mote_model_prompt(const mote_model* model, uint32_t prompt, const char** name) {
  const auto* prompts = model->root->prompts();
  if (prompt >= mote::size_of(prompts)) return nullptr;
  const mote::file::Prompt* found = prompts->Get(prompt);
  if (name != nullptr) *name = found->name()->c_str();
  return found->text()->c_str();
}

int32_t mote_model_default_prompt(const mote_model* model) { return model->root->default_prompt(); }

mote_similarity mote_model_similarity(const mote_model* model) {
  return static_cast<mote_similarity>(model->root->similarity());
}

int mote_model_unit_vectors(const mote_model* model) {
  const mote::file::Program& program = *model->program;
  if (program.output_kind() != mote::file::OutputKind::embedding || program.ops()->size() == 0) return 0;
  const mote::file::Norm* norm = program.ops()->Get(program.ops()->size() - 1)->args_as_Norm();
  if (norm == nullptr || norm->kind() != mote::file::NormKind::l2 || norm->groups() != 1) return 0;
  const mote::file::Slice &made = *norm->out(), &output = *program.output();
  return made.buffer() == output.buffer() && made.width() == output.width() ? 1 : 0;
}

mote_status mote_encode_begin(mote_session* session, const mote_batch* batch, mote_error* error) {
  mote_status status = mote::check_encoder(session, error);
  if (status != MOTE_OK) return status;
  if (batch == nullptr || batch->lengths == nullptr) {
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_encode: null pointer");
  }
  uint32_t total = 0;
  status = mote::check_batch(session, *batch, &total, error);
  if (status != MOTE_OK) return status;
  mote::end_run(session);
  const uint32_t program = mote::whole_program(*session->model);
  const uint32_t width = session->programs[program].input_width;
  mote::begin_run(session, program);
  mote::begin_memory(session, batch->continues != 0);
  for (uint32_t i = 0; i < batch->count; ++i) {
    mote::begin_sequence(session, i, batch->lengths[i], mote::columns_of(*batch, i));
    for (uint32_t left = batch->lengths[i]; left > 0; --left) {
      const uint32_t row = session->run.rows;
      if (width != 0) mote::set_input(session, batch->values + size_t{row} * width);
      mote::add_token(session, batch->ids == nullptr ? 0 : batch->ids[row],
                      batch->token_types == nullptr ? 0 : batch->token_types[row]);
    }
  }
  mote::choose_outputs(session, *batch, total);
  mote::begin_pass(session);
  return MOTE_OK;
}

mote_status mote_encode_step(mote_session* session, uint32_t max_ops, int* done, mote_error* error) {
  const mote_status status = mote::check_encoder(session, error);
  return status != MOTE_OK ? status : mote_compute_step(session, max_ops, done, error);
}

mote_status mote_encode(mote_session* session, const mote_batch* batch, mote_error* error) {
  int done = 0;
  const mote_status status = mote_encode_begin(session, batch, error);
  return status != MOTE_OK ? status : mote_encode_step(session, 0, &done, error);
}

mote_status mote_probabilities(const mote_session* session, uint32_t row, float* out, uint32_t width,
                               mote_error* error) {
  const mote::file::Program& program = *mote::current(*session).file;
  const float* logits = mote_session_output(session, row);
  if (logits == nullptr) return fail(error, MOTE_WRONG_STATE, "there is no row ", row, " of outputs");
  if (out == nullptr || width != program.output()->width()) {
    return fail(error, MOTE_INVALID_ARGUMENT, "room for ", width, " probabilities, the output has ",
                program.output()->width());
  }
  if (out != logits) memcpy(out, logits, width * sizeof(float));
  const bool boxes = program.output_kind() == mote::file::OutputKind::boxes;
  const uint32_t columns = boxes ? session->model->root->labels()->size() + 1 : width;
  if (program.probabilities() == mote::file::Probabilities::softmax) mote::softmax(out, columns);
  for (uint32_t i = 0; program.probabilities() == mote::file::Probabilities::sigmoid && i < columns; ++i) {
    out[i] = 1.0f / (1.0f + expf(-out[i]));
  }
  return MOTE_OK;
}

}  // extern "C"
