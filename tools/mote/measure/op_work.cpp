// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/measure/op_work.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/ops.h"
#include "runtime/ops/visit_op.h"

namespace mote::cli {
namespace {

class Worker : public OpVisitor {
 public:
  Worker(const file::Model& model, const file::Program& program, const char* name, const OpRun& run)
      : OpVisitor(model, program), run_(run) {
    work.kind = name;
  }

  template <class... Pieces>
  void kind(const Pieces&... pieces) {
    work.kind += " ";
    ((work.kind += fmt::format("{}", pieces)), ...);
  }
  void reads(const file::Slice* slice) {
    rows_of(*slice);
    if (!writes_) stream = buffer(*slice).stream();
  }
  void writes(const file::Slice* slice) {
    rows_of(*slice);
    stream = buffer(*slice).stream();
    writes_ = true;
  }
  void updates(const file::Slice* slice) {
    reads(slice);
    writes(slice);
  }
  void adds(const file::Slice* slice) {
    if (slice != nullptr) rows_of(*slice);
  }
  void table(int32_t index) {
    if (const file::Tensor* found = tensor_at(index))
      work.bytes += run_.rows * found->bytes() / found->rows();
  }
  void tensor(int32_t index) {
    if (const file::Tensor* found = tensor_at(index)) work.bytes += found->bytes();
  }
  void multiplies(int32_t weight) {
    const file::Tensor& found = *tensor_at(weight);
    work.multiply_adds += run_.rows * found.rows() * found.cols();
    work.integer = found.dtype() != file::DType::f32 && found.dtype() != file::DType::f16;
  }
  void stores(uint32_t index) { work.bytes += run_.rows * position_bytes(cache(index)); }
  void attends(uint32_t index, uint32_t heads) {
    const file::State& keys = cache(index);
    const uint64_t seen = keys.window() == 0 ? run_.seen : std::min<uint64_t>(run_.seen, keys.window());
    const uint64_t passes = (run_.rows + kAttentionRowBlock - 1) / kAttentionRowBlock;
    work.bytes += passes * seen * position_bytes(keys);
    work.multiply_adds += run_.rows * seen * heads * (keys.key_dim() + keys.value_dim());
  }

  /// Read and written once: the rows are taken as of one sequence.
  void carries(uint32_t index, uint64_t multiply_adds) {
    const file::State& state = cache(index);
    work.bytes += 2 * sizeof(float) * uint64_t{state.heads()} * state.rows() * state.cols();
    work.multiply_adds += run_.rows * multiply_adds;
  }

  OpWork work;
  uint32_t stream = 0;

 private:
  void rows_of(const file::Slice& slice) {
    const auto dtype = static_cast<DType>(buffer(slice).dtype());
    work.bytes += run_.rows * buffer_row_bytes(dtype, slice.width());
  }
  /// Keys and values of a position.
  uint64_t position_bytes(const file::State& of) const {
    return of.kv_heads() * (kv_bytes(run_.kv, of.key_dim()) + kv_bytes(run_.kv, of.value_dim()));
  }

  OpRun run_;
  bool writes_ = false;
};

Worker examine(const file::Model& model, const file::Program& program, const file::Op& op, const OpRun& run) {
  Worker worker(model, program, file::EnumNameOpArgs(op.args_type()), run);
  visit_op(op, worker);
  return worker;
}

}  // namespace

OpWork op_work(const file::Model& model, const file::Program& program, const file::Op& op, const OpRun& run) {
  return examine(model, program, op, run).work;
}

uint32_t op_stream(const file::Model& model, const file::Program& program, const file::Op& op) {
  return examine(model, program, op, {}).stream;
}

}  // namespace mote::cli
