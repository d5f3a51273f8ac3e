// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/op_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "kernels/ops.h"
#include "tools/mote/visit_op.h"

namespace mote::cli {
namespace {

/// Answers for the tables of the union, one overload each.
struct Worker {
  const file::Model& model;
  OpRun run;
  OpWork work;
  file::RowUnit unit = file::RowUnit::token;

  const file::Buffer& buffer(const file::Slice& slice) const {
    return *model.programs()->Get(0)->buffers()->Get(slice.buffer());
  }
  const file::Tensor* tensor(int32_t index) const {
    return index < 0 ? nullptr : model.tensors()->Get(static_cast<uint32_t>(index));
  }

  void rows_of(std::initializer_list<const file::Slice*> slices) {
    for (const file::Slice* slice : slices) {
      if (slice == nullptr) continue;
      const auto dtype = static_cast<DType>(buffer(*slice).dtype());
      work.bytes += run.rows * buffer_row_bytes(dtype, slice->width());
    }
  }
  void whole(int32_t index) {
    if (const file::Tensor* found = tensor(index)) work.bytes += found->bytes();
  }
  void looked_up(int32_t index) {
    if (const file::Tensor* found = tensor(index)) work.bytes += run.rows * found->bytes() / found->rows();
  }
  void is(const file::Slice& result, std::string words) {
    unit = buffer(result).unit();
    work.kind = std::move(words);
  }

  void add(const file::Embed& op) {
    is(*op.out(), fmt::format("Embed {} {}", type(op.table()), op.out()->width()));
    rows_of({op.out()});
    looked_up(op.table());
  }
  void add(const file::Positions& op) {
    is(*op.x(), fmt::format("Positions {} {}", type(op.table()), op.x()->width()));
    rows_of({op.x(), op.x()});
    looked_up(op.table());
  }
  void add(const file::Norm& op) {
    is(*op.out(), fmt::format("Norm {} {}", file::EnumNameNormKind(op.kind()), op.out()->width()));
    rows_of({op.in(), op.out()});
    whole(op.weight());
    whole(op.bias());
  }
  void add(const file::Quantize& op) {
    is(*op.out(),
       fmt::format("Quantize {} {}", file::EnumNameDType(buffer(*op.out()).dtype()), op.out()->width()));
    rows_of({op.in(), op.out()});
    whole(op.columns());
  }
  void add(const file::Linear& op) {
    is(*op.out(), fmt::format("Linear {} {} x {}", type(op.weight()), op.out()->width(), op.in()->width()));
    if (op.activation() != file::Activation::none) {
      work.kind += fmt::format(" {}", file::EnumNameActivation(op.activation()));
    }
    rows_of({op.in(), op.out(), op.residual()});
    whole(op.weight());
    whole(op.bias());
    work.multiply_adds = run.rows * op.out()->width() * op.in()->width();
    const file::DType dtype = tensor(op.weight())->dtype();
    work.integer = dtype != file::DType::f32 && dtype != file::DType::f16;
  }
  void add(const file::RopeTable& op) {
    is(*op.out(), fmt::format("RopeTable {}", op.out()->width()));
    rows_of({op.out()});
  }
  void add(const file::Rope& op) {
    is(*op.x(), fmt::format("Rope {} {}", file::EnumNameRopeKind(op.kind()), op.x()->width()));
    rows_of({op.x(), op.x(), op.table()});
  }
  void add(const file::KvStore& op) {
    is(*op.k(), fmt::format("KvStore {}", op.k()->width()));
    rows_of({op.k(), op.v()});
    const file::KvCache& cache = *model.kv_caches()->Get(op.cache());
    work.bytes += run.rows * cache.kv_heads() * 2 * kv_bytes(run.kv, cache.head_dim());
  }
  void add(const file::Attention& op) {
    const file::KvCache& cache = *model.kv_caches()->Get(op.cache());
    is(*op.out(), fmt::format("Attention {} : {} x {}", op.heads(), cache.kv_heads(), cache.head_dim()));
    rows_of({op.q(), op.out()});
    const uint64_t seen = cache.window() == 0 ? run.seen : std::min<uint64_t>(run.seen, cache.window());
    const uint64_t passes = (run.rows + kAttentionRowBlock - 1) / kAttentionRowBlock;
    work.bytes += passes * seen * cache.kv_heads() * 2 * kv_bytes(run.kv, cache.head_dim());
    work.multiply_adds = run.rows * seen * op.heads() * cache.head_dim() * 2;
  }
  void add(const file::Gate& op) {
    is(*op.out(), fmt::format("Gate {} {}", file::EnumNameActivation(op.activation()), op.out()->width()));
    rows_of({op.gate(), op.up(), op.out()});
  }
  void add(const file::Select& op) {
    is(*op.out(), fmt::format("Select {}", op.out()->width()));
    rows_of({op.in(), op.out()});
  }
  void add(const file::Pool& op) {
    is(*op.out(), fmt::format("Pool {} {}", file::EnumNamePoolKind(op.kind()), op.out()->width()));
    rows_of({op.in(), op.out()});
  }

  const char* type(int32_t index) const {
    const file::Tensor* found = tensor(index);
    return found == nullptr ? "" : file::EnumNameDType(found->dtype());
  }
};

Worker examine(const file::Model& model, const file::Op& op, const OpRun& run) {
  Worker worker{model, run, {}};
  visit_op(op, [&](const auto& table) { worker.add(table); });
  return worker;
}

}  // namespace

OpWork op_work(const file::Model& model, const file::Op& op, const OpRun& run) {
  return examine(model, op, run).work;
}

file::RowUnit op_unit(const file::Model& model, const file::Op& op) { return examine(model, op, {}).unit; }

}  // namespace mote::cli
