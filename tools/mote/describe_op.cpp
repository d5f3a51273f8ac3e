// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/describe_op.h"

#include <fmt/format.h>

#include "tools/mote/visit_op.h"

namespace mote::cli {
namespace {

std::string slice(const file::Slice* slice) {
  if (slice == nullptr) return "";
  return fmt::format("b{}[{}:{}]", slice->buffer(), slice->column(), slice->column() + slice->width());
}

/// Fills an OpText from the tables of the union, one overload each.
struct Describer {
  const file::Model& model;
  OpText text;

  std::string tensor(int32_t index) const {
    if (index < 0) return "";
    const file::Tensor* tensor = model.tensors()->Get(static_cast<uint32_t>(index));
    return fmt::format("{} ({} {} x {})", tensor->name()->str(), file::EnumNameDType(tensor->dtype()),
                       tensor->rows(), tensor->cols());
  }

  void detail(const std::string& part) {
    if (!part.empty()) text.details += (text.details.empty() ? "" : ", ") + part;
  }

  void activation(file::Activation activation) {
    if (activation != file::Activation::none) detail(file::EnumNameActivation(activation));
  }

  void describe(const file::Embed& op) {
    text.in = "ids";
    text.out = slice(op.out());
    detail(tensor(op.table()));
  }
  void describe(const file::Positions& op) {
    text.in = text.out = slice(op.x());
    if (op.index() != file::RowIndex::position) detail(file::EnumNameRowIndex(op.index()));
    detail(tensor(op.table()));
  }
  void describe(const file::Norm& op) {
    text.in = slice(op.in());
    text.out = slice(op.out());
    detail(fmt::format("{} eps {:g}{}", file::EnumNameNormKind(op.kind()), op.eps(),
                       op.eps_outside_root() ? " outside the root" : ""));
    if (op.groups() != 1) detail(fmt::format("{} groups", op.groups()));
    detail(tensor(op.weight()));
    detail(tensor(op.bias()));
  }
  void describe(const file::Quantize& op) {
    text.in = slice(op.in());
    text.out = slice(op.out());
    detail(tensor(op.columns()));
  }
  void describe(const file::Linear& op) {
    text.in = slice(op.in());
    text.out = slice(op.out());
    detail(tensor(op.weight()));
    detail(tensor(op.bias()));
    activation(op.activation());
    if (op.residual() != nullptr) detail("+ " + slice(op.residual()));
  }
  void describe(const file::RopeTable& op) {
    text.in = "positions";
    text.out = slice(op.out());
    detail(tensor(op.frequencies()));
    if (op.scale() != 1.0f) detail(fmt::format("scale {:g}", op.scale()));
  }
  void describe(const file::Rope& op) {
    text.in = fmt::format("{} {}", slice(op.x()), slice(op.table()));
    text.out = slice(op.x());
    detail(fmt::format("{}, {} heads", file::EnumNameRopeKind(op.kind()), op.heads()));
  }
  void describe(const file::KvStore& op) {
    text.in = fmt::format("{} {}", slice(op.k()), slice(op.v()));
    text.out = fmt::format("cache {}", op.cache());
  }
  void describe(const file::Attention& op) {
    text.in = fmt::format("{} cache {}", slice(op.q()), op.cache());
    text.out = slice(op.out());
    const file::KvCache* cache = model.kv_caches()->Get(op.cache());
    detail(fmt::format("{} heads, {} of keys and values, width {}, scale {:g}", op.heads(), cache->kv_heads(),
                       cache->head_dim(), op.scale()));
    if (cache->window() != 0) detail(fmt::format("window {}", cache->window()));
    if (cache->bidirectional()) detail("bidirectional");
    detail(tensor(op.bias()));
  }
  void describe(const file::Gate& op) {
    text.in = fmt::format("{} {}", slice(op.gate()), slice(op.up()));
    text.out = slice(op.out());
    activation(op.activation());
  }
  void describe(const file::Select& op) {
    text.in = slice(op.in());
    text.out = slice(op.out());
  }

  void describe(const file::Pool& op) {
    text.in = slice(op.in());
    text.out = slice(op.out());
    detail(file::EnumNamePoolKind(op.kind()));
  }
};

}  // namespace

OpText describe_op(const file::Model& model, const file::Op& op) {
  Describer describer{model, {file::EnumNameOpArgs(op.args_type()), "", "", ""}};
  visit_op(op, [&](const auto& table) { describer.describe(table); });
  return describer.text;
}

}  // namespace mote::cli
