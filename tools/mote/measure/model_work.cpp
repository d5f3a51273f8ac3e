// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/measure/model_work.h"

#include <algorithm>

#include "runtime/file/model.h"

namespace mote::cli {
namespace {

uint64_t tensor_bytes(const file::Model& model, int32_t index) {
  return index < 0 ? 0 : model.tensors()->Get(static_cast<uint32_t>(index))->bytes();
}

uint32_t experts_of(const file::Experts& op) {
  return op.routes() != nullptr ? op.routes()->width() : op.chosen();
}

/// Rows of a stream of tokens or groups for each token of a long sequence.
double rows_per_token(const file::Model& model, const file::Program& program, uint32_t stream) {
  const uint32_t tokens = tokens_of_row(program, stream), context = context_of(model, program);
  if (tokens != 0 && tokens != kPartsOfTokens) return 1.0 / tokens;
  return static_cast<double>(rows_of_sequence(program, stream, context)) / context;
}

}  // namespace

uint64_t weight_bytes(const file::Model& model, uint64_t rows) {
  uint64_t bytes = 0;
  for (const file::Op* op : *model.programs()->Get(0)->ops()) {
    if (const file::Linear* linear = op->args_as_Linear()) {
      bytes += tensor_bytes(model, linear->weight()) + tensor_bytes(model, linear->bias());
    } else if (const file::Norm* norm = op->args_as_Norm()) {
      bytes += tensor_bytes(model, norm->weight()) + tensor_bytes(model, norm->bias());
    } else if (const file::Experts* experts = op->args_as_Experts()) {
      const uint64_t all = experts_of(*experts), read = std::min<uint64_t>(all, rows * experts->chosen());
      bytes += tensor_bytes(model, experts->weight()) / all * read;
    }
  }
  return bytes;
}

uint64_t state_bytes(const file::Model& model, uint64_t position, uint64_t source, DType type) {
  uint64_t bytes = 0;
  for (const file::State* cache : *model.states()) {
    if (cache->kind() != file::StateKind::kv) {
      bytes += 2 * sizeof(float) * uint64_t{cache->heads()} * cache->rows() * cache->cols();
      continue;
    }
    if (cache->bidirectional() && cache->source() < 0) continue;  // of one run of the encoder
    const uint64_t rows = cache->source() < 0 ? position + 1 : source;
    const uint64_t seen = cache->window() == 0 ? rows : std::min<uint64_t>(rows, cache->window());
    const uint64_t of_head =
        mote::kv_bytes(type, cache->key_dim()) + mote::kv_bytes(type, cache->value_dim());
    bytes += seen * cache->kv_heads() * of_head;
  }
  return bytes;
}

LinearWork linear_work(const file::Model& model, uint32_t index) {
  const file::Program& program = *model.programs()->Get(index);
  LinearWork work;
  double integer = 0;
  const auto add = [&](const file::Slice& in, int32_t weight, double macs) {
    const uint32_t stream = program.buffers()->Get(in.buffer())->stream();
    const file::StreamKind kind = program.streams()->Get(stream)->kind();
    if (has_positions(kind)) {
      work.per_token += macs * rows_per_token(model, program, stream);
    } else {
      work.per_output += macs;
    }
    const file::DType type = model.tensors()->Get(static_cast<uint32_t>(weight))->dtype();
    if (type != file::DType::f32 && type != file::DType::f16) integer += macs;
  };
  for (const file::Op* op : *program.ops()) {
    if (const file::Linear* linear = op->args_as_Linear()) {
      add(*linear->in(), linear->weight(),
          static_cast<double>(linear->in()->width()) * linear->out()->width());
    } else if (const file::Experts* experts = op->args_as_Experts()) {
      const file::Tensor& all = *model.tensors()->Get(static_cast<uint32_t>(experts->weight()));
      add(*experts->in(), experts->weight(),
          static_cast<double>(all.rows()) / experts_of(*experts) * experts->chosen() * all.cols());
    }
  }
  work.integer = integer > (work.per_token + work.per_output) / 2;
  return work;
}

}  // namespace mote::cli
