// SPDX-License-Identifier: Apache-2.0
#include "converter/tied_head.h"

#include <fmt/format.h>

#include <vector>

namespace mote::convert {
namespace {

bool is_equal(const SourceTensor& a, const SourceTensor& b) {
  if (a.shape != b.shape) return false;
  std::vector<float> row(a.cols()), other(b.cols());
  for (uint64_t i = 0; i < a.rows(); ++i) {
    read_row(a, i, row);
    read_row(b, i, other);
    if (row != other) return false;
  }
  return true;
}

}  // namespace

std::string settle_tied_head(const Source& source, TransformerSpec& spec) {
  const bool decoder = !spec.is_encoder();
  if (!spec.tied_embedding || (!decoder && spec.head.kind != OutputKind::masked_token)) return "";
  const std::string name = decoder ? spec.names.head : spec.head.output;
  const auto head = source.tensors.find(name + ".weight");
  const auto embedding = source.tensors.find(spec.names.embedding + ".weight");
  if (head == source.tensors.end()) return "";
  if (embedding == source.tensors.end()) {
    spec.names.embedding = name;
    return "";
  }
  if (is_equal(head->second, embedding->second)) return "";
  spec.tied_embedding = false;
  return fmt::format("the config ties {} to {}, but the file has different values for them: both are kept",
                     head->first, embedding->first);
}

}  // namespace mote::convert
