// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/bind.h"

#include "runtime/exec/backend.h"
#include "runtime/ops/proofs.h"

namespace mote {
namespace {

static_assert(static_cast<int>(file::DType::q8c) == static_cast<int>(DType::q8c) &&
              static_cast<int>(file::DType::MAX) + 1 == kDTypeCount);
static_assert(static_cast<int>(file::OpArgs::Embed) == static_cast<int>(Op::kEmbed) + 1 &&
              static_cast<int>(file::OpArgs::MAX) == static_cast<int>(Op::kPool) + 1);
static_assert(static_cast<int>(file::Activation::MAX) == static_cast<int>(Activation::tanh));
static_assert(static_cast<int>(file::NormKind::MAX) == static_cast<int>(NormKind::l2));
static_assert(static_cast<int>(file::RopeKind::MAX) == static_cast<int>(RopeKind::interleaved));
static_assert(static_cast<int>(file::PoolKind::MAX) == static_cast<int>(PoolKind::max));

/// Binds one operation.
class Binder : public Proofs {
 public:
  using Proofs::Proofs;

  void bind(const file::Embed& op, Step* step) {
    const Operand out = f32_slice(op.out(), "out");
    const file::Tensor* table = tensor(op.table(), "table");
    if (status_ != MOTE_OK) return;
    of_tokens(out, "out");
    width(out, table->cols(), "out");
    check(table->rows() == model_.root->vocab(), "table has ", table->rows(), " rows for a vocabulary of ",
          model_.root->vocab());
    step->embed = {data(table), table->cols(), table->packing() == file::Packing::rows, places_.ids,
                   out.rows()};
    step->unit = out.unit;
    step->work_per_row = out.width;
    kernel(step, Op::kEmbed, DType::f32, static_cast<DType>(table->dtype()));
  }

  void bind(const file::Positions& op, Step* step) {
    const Operand x = f32_slice(op.x(), "x");
    const file::Tensor* table = tensor(op.table(), "table");
    if (status_ != MOTE_OK) return;
    of_tokens(x, "x");
    width(x, table->cols(), "x");
    const DType dtype = static_cast<DType>(table->dtype());
    check(table->packing() == file::Packing::rows, "table is not row-major");
    check(activation_dtype(dtype) == DType::f32, "table is quantized");
    step->positions = {data(table), table->cols(), index(op.index(), table), x.rows()};
    step->unit = x.unit;
    step->work_per_row = x.width;
    kernel(step, Op::kPositions, DType::f32, dtype);
  }

  void bind(const file::Norm& op, Step* step) {
    const Operand in = f32_slice(op.in(), "in");
    const Operand out = f32_slice(op.out(), "out");
    if (status_ != MOTE_OK) return;
    same_unit(in, out, "out");
    width(out, in.width, "out");
    finite(op.eps(), "eps");
    check(op.kind() <= file::NormKind::MAX, "unknown kind");
    if (!check(op.groups() > 0 && in.width % op.groups() == 0, "width ", in.width, " in ", op.groups(),
               " groups"))
      return;
    const uint32_t part = in.width / op.groups();
    step->norm = {static_cast<NormKind>(op.kind()),
                  op.eps_outside_root(),
                  op.eps(),
                  op.groups(),
                  in.width,
                  optional_vector(op.weight(), part, "weight"),
                  optional_vector(op.bias(), part, "bias"),
                  in.const_rows(),
                  out.rows()};
    step->unit = in.unit;
    step->work_per_row = 16 * uint64_t{in.width};
    kernel(step, Op::kNorm, DType::f32, DType::f32);
  }

  void bind(const file::Quantize& op, Step* step) {
    const Operand in = f32_slice(op.in(), "in");
    const Operand out = quantized_slice(op.out(), "out");
    if (status_ != MOTE_OK) return;
    same_unit(in, out, "out");
    width(out, in.width, "out");
    step->quantize = {in.width, optional_vector(op.columns(), in.width, "columns"), in.const_rows(), out.data,
                      out.stride_bytes};
    step->unit = in.unit;
    step->work_per_row = 16 * uint64_t{in.width};
    kernel(step, Op::kQuantize, DType::f32, out.dtype);
  }

  void bind(const file::Linear& op, Step* step) {
    const file::Tensor* weight = tensor(op.weight(), "weight");
    if (weight == nullptr) return;
    const DType dtype = static_cast<DType>(weight->dtype());
    const bool quantized = activation_dtype(dtype) != DType::f32;
    const Operand in = quantized ? quantized_slice(op.in(), "in") : f32_slice(op.in(), "in");
    const Operand out = f32_slice(op.out(), "out");
    Operand residual{};
    if (op.residual() != nullptr) residual = f32_slice(op.residual(), "residual");
    if (status_ != MOTE_OK) return;
    check(in.dtype == activation_dtype(dtype), "in is quantized otherwise than its weight");
    check(weight->packing() == file::Packing::p16k4, "weight is not packed");
    check(dtype != DType::q8c || weight->cols() <= kMaxColumnsQ8c, "weight of ", weight->cols(),
          " columns, q8c has at most ", kMaxColumnsQ8c);
    check(weight->cols() == in.width, "weight columns ", weight->cols(), " != input width ", in.width);
    check(weight->rows() == out.width, "weight rows ", weight->rows(), " != output width ", out.width);
    check(op.activation() <= file::Activation::MAX, "unknown activation");
    same_unit(in, out, "out");
    if (op.residual() != nullptr) {
      same_unit(in, residual, "residual");
      width(residual, out.width, "residual");
    }
    step->linear = {data(weight),
                    optional_vector(op.bias(), out.width, "bias"),
                    static_cast<Activation>(op.activation()),
                    0,
                    out.width,
                    in.width,
                    in.data,
                    in.stride_bytes,
                    out.rows(),
                    residual.const_rows(),
                    false,
                    0};
    if (op.residual() == nullptr) step->linear.residual = {nullptr, 0};
    step->unit = in.unit;
    step->work_per_row = uint64_t{in.width} * out.width;
    kernel(step, Op::kLinear, in.dtype, dtype);
    step->on_backend = places_.backend != nullptr && is_for_backend(model_, op_);
  }

  void bind(const file::RopeTable& op, Step* step) {
    const Operand out = f32_slice(op.out(), "out");
    if (status_ != MOTE_OK) return;
    of_tokens(out, "out");
    finite(op.scale(), "scale");
    check(out.width % 2 == 0, "odd width ", out.width);
    step->rope_table = {vector(op.frequencies(), out.width / 2, "frequencies"), out.width, op.scale(),
                        places_.positions, out.rows()};
    step->unit = out.unit;
    step->work_per_row = 20 * uint64_t{out.width};
    kernel(step, Op::kRopeTable, DType::f32, DType::f32);
  }

  void bind(const file::Rope& op, Step* step) {
    const Operand table = f32_slice(op.table(), "table");
    const Operand x = f32_slice(op.x(), "x");
    if (status_ != MOTE_OK) return;
    same_unit(table, x, "x");
    check(op.kind() <= file::RopeKind::MAX, "unknown kind");
    if (!check(op.heads() > 0 && x.width % op.heads() == 0, "width ", x.width, " in ", op.heads(), " heads"))
      return;
    const uint32_t head_dim = x.width / op.heads();
    check(table.width % 2 == 0 && table.width <= head_dim, "rotates ", table.width, " of ", head_dim,
          " columns");
    step->rope = {
        static_cast<RopeKind>(op.kind()), op.heads(), head_dim, table.width, table.const_rows(), x.rows()};
    step->unit = x.unit;
    step->work_per_row = 2 * uint64_t{x.width};
    kernel(step, Op::kRope, DType::f32, DType::f32);
  }

  void bind(const file::KvStore& op, Step* step) {
    const Operand k = f32_slice(op.k(), "k");
    const Operand v = f32_slice(op.v(), "v");
    KvCacheView view{};
    cache(op.cache(), &view);
    if (status_ != MOTE_OK) return;
    of_tokens(k, "k");
    of_tokens(v, "v");
    width(k, view.kv_heads * view.key_dim, "k");
    width(v, view.kv_heads * view.value_dim, "v");
    step->kv_store = {view, places_.positions, places_.sequences, k.const_rows(), v.const_rows()};
    step->unit = k.unit;
    step->work_per_row = 8 * uint64_t{k.width};  // a store each
    kernel(step, Op::kKvStore, DType::f32, places_.kv_dtype);
  }

  void bind(const file::Attention& op, Step* step) {
    const Operand q = f32_slice(op.q(), "q");
    const Operand out = f32_slice(op.out(), "out");
    KvCacheView view{};
    const file::KvCache* cache = this->cache(op.cache(), &view);
    if (status_ != MOTE_OK) return;
    of_tokens(q, "q");
    of_tokens(out, "out");
    finite(op.scale(), "scale");
    if (!check(op.heads() > 0 && op.heads() <= kMaxWidth && op.heads() % cache->kv_heads() == 0, op.heads(),
               " heads over ", cache->kv_heads(), " KV heads")) {
      return;
    }
    check(uint64_t{op.heads()} * view.key_dim == q.width, "q has width ", q.width);
    check(uint64_t{op.heads()} * view.value_dim == out.width, "out has width ", out.width);
    uint32_t reach = 0;
    const float* bias = attention_bias(op, &reach);
    const int32_t* last_seen = cache->bidirectional() ? places_.last_seen : places_.positions;
    step->attention = {
        view, op.heads(),        cache->window(), op.scale(),        bias,           reach,
        0,    places_.positions, last_seen,       places_.sequences, q.const_rows(), out.rows(),
        0,    places_.partials};
    step->unit = q.unit;
    step->work_per_row = q.width;
    kernel(step, Op::kAttention, DType::f32, places_.kv_dtype);
    step->merge = find_kernel(Op::kAttentionMerge, DType::f32, DType::f32, places_.isa);
  }

  void bind(const file::Gate& op, Step* step) {
    const Operand gate = f32_slice(op.gate(), "gate");
    const Operand up = f32_slice(op.up(), "up");
    const Operand out = f32_slice(op.out(), "out");
    if (status_ != MOTE_OK) return;
    same_unit(gate, up, "up");
    same_unit(gate, out, "out");
    width(up, gate.width, "up");
    width(out, gate.width, "out");
    check(op.activation() <= file::Activation::MAX, "unknown activation");
    step->gate = {static_cast<Activation>(op.activation()), gate.width, gate.const_rows(), up.const_rows(),
                  out.rows()};
    step->unit = gate.unit;
    step->work_per_row = 8 * uint64_t{gate.width};
    kernel(step, Op::kGate, DType::f32, DType::f32);
  }

  void bind(const file::Select& op, Step* step) {
    const Operand in = f32_slice(op.in(), "in");
    const Operand out = f32_slice(op.out(), "out");
    if (status_ != MOTE_OK) return;
    of_tokens(in, "in");
    check(out.unit == file::RowUnit::selected, "out is not per selected row");
    width(out, in.width, "out");
    step->select = {in.width, places_.selected, in_one_lane(in.const_rows()), out.rows(), 0, 0};
    step->unit = out.unit;
    step->work_per_row = in.width;
    kernel(step, Op::kSelect, DType::f32, DType::f32);
  }

  void bind(const file::Pool& op, Step* step) {
    const Operand in = f32_slice(op.in(), "in");
    const Operand out = f32_slice(op.out(), "out");
    if (status_ != MOTE_OK) return;
    of_tokens(in, "in");
    check(out.unit == file::RowUnit::sequence, "out is not per sequence");
    check(op.kind() <= file::PoolKind::MAX, "unknown kind");
    width(out, in.width, "out");
    step->pool = {static_cast<PoolKind>(op.kind()), in.width,   places_.starts,
                  in_one_lane(in.const_rows()),     out.rows(), 0};
    step->unit = out.unit;
    step->work_per_row = in.width;
    kernel(step, Op::kPool, DType::f32, DType::f32);
  }
};

}  // namespace

ScratchShape scratch_shape(const Step& step, uint32_t rows) {
  ScratchShape shape{};
  if (step.op == Op::kLinear) {
    shape.rows = rows;
    shape.inputs = step.linear.inputs;
  } else if (step.op == Op::kAttention) {
    shape.heads_per_kv_head = step.attention.heads / step.attention.cache.kv_heads;
    shape.key_dim = step.attention.cache.key_dim;
    shape.value_dim = step.attention.cache.value_dim;
  }
  return shape;
}

mote_status bind(const mote_model& model, const Places& places, uint32_t index, Step* step,
                 mote_error* error) {
  Binder binder(model, places, index, error);
  const file::Op* op = model.program->ops()->Get(index);
  switch (op->args_type()) {
    case file::OpArgs::Embed:
      binder.bind(*op->args_as_Embed(), step);
      break;
    case file::OpArgs::Positions:
      binder.bind(*op->args_as_Positions(), step);
      break;
    case file::OpArgs::Norm:
      binder.bind(*op->args_as_Norm(), step);
      break;
    case file::OpArgs::Quantize:
      binder.bind(*op->args_as_Quantize(), step);
      break;
    case file::OpArgs::Linear:
      binder.bind(*op->args_as_Linear(), step);
      break;
    case file::OpArgs::RopeTable:
      binder.bind(*op->args_as_RopeTable(), step);
      break;
    case file::OpArgs::Rope:
      binder.bind(*op->args_as_Rope(), step);
      break;
    case file::OpArgs::KvStore:
      binder.bind(*op->args_as_KvStore(), step);
      break;
    case file::OpArgs::Attention:
      binder.bind(*op->args_as_Attention(), step);
      break;
    case file::OpArgs::Gate:
      binder.bind(*op->args_as_Gate(), step);
      break;
    case file::OpArgs::Select:
      binder.bind(*op->args_as_Select(), step);
      break;
    case file::OpArgs::Pool:
      binder.bind(*op->args_as_Pool(), step);
      break;
    default:
      return fail_at(error, MOTE_UNSUPPORTED_FILE, static_cast<int32_t>(index), "op ", index,
                     ": unknown operation; a newer mote made this file");
  }
  return binder.status();
}

mote_status bind_slice(const mote_model& model, const Places& places, uint32_t op, const file::Slice* slice,
                       ConstRows* rows, file::RowUnit* unit, mote_error* error) {
  Binder binder(model, places, op, error);
  const Operand operand = binder.f32_slice(slice, "output");
  *rows = operand.const_rows();
  *unit = operand.unit;
  return binder.status();
}

}  // namespace mote
