// SPDX-License-Identifier: Apache-2.0
//
// Attention maps of a text, computed by the reference kernels.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "host/tasks/hooks.h"
#include "host/tasks/session.h"
#include "host/tasks/text.h"

namespace mote::host {

inline constexpr uint32_t kMostMapTokens = 512;  // a map has their square for each head

/// The probabilities of one attention operation, [heads][rows][keys]. Positions that a row does not see have
/// 0.
struct AttentionMap {
  uint32_t program, op;
  uint32_t heads = 0, rows = 0, keys = 0;
  bool crosses = false;  // rows of the answer attend to the source
  std::vector<float> probabilities;
  std::vector<uint32_t> row_keys;  // [heads][rows]: positions up to the last that a row sees
};

struct AttentionMaps {
  TokenList tokens;  // of the text
  std::vector<int32_t>
      answer;  // that a model with a source generates greedily over it, but for the last token
  std::vector<AttentionMap> maps;
};

/// Computes the maps of a text and, for a model that generates over a source, of its answer. Fails for a
/// model without a tokenizer or attention by scores, and for a text of no tokens, of more than kMostMapTokens
/// or of more than the model's context.
Result<AttentionMaps> attention_maps(const Model& model, const SessionChoices& choices, std::string_view text,
                                     const Hooks& hooks);

}  // namespace mote::host
