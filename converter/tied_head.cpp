// SPDX-License-Identifier: Apache-2.0
#include "converter/tied_head.h"

#include <fmt/format.h>

namespace mote::convert {
namespace {

std::string head_of(const TransformerSpec& spec) {
  return spec.is_encoder() ? spec.head.output : spec.names.head;
}

}  // namespace

TiedNames join_tied_head(Source& source, const TransformerSpec& spec) {
  TiedNames names{spec.names.embedding, head_of(spec), spec.tied_embedding};
  const auto head = source.tensors.find(names.head + ".weight");
  const auto embedding = source.tensors.find(names.embedding + ".weight");
  if (!names.tied || head == source.tensors.end()) return names;
  if (embedding == source.tensors.end()) {
    names.embedding = names.head;
  } else if (has_same_values(head->second, embedding->second)) {
    source.tensors.erase(head);
  } else {
    names.tied = false;
  }
  return names;
}

std::string settle_tied_head(const Source& source, TransformerSpec& spec) {
  const bool decoder = !spec.is_encoder();
  if (!spec.tied_embedding || (!decoder && spec.head.kind != OutputKind::masked_token)) return "";
  const std::string name = head_of(spec);
  const auto head = source.tensors.find(name + ".weight");
  const auto embedding = source.tensors.find(spec.names.embedding + ".weight");
  if (head == source.tensors.end()) return "";
  if (embedding == source.tensors.end()) {
    spec.names.embedding = name;
    return "";
  }
  if (has_same_values(head->second, embedding->second)) return "";
  spec.tied_embedding = false;
  return fmt::format("the config ties {} to {}, but the file has different values for them: both are kept",
                     head->first, embedding->first);
}

}  // namespace mote::convert
