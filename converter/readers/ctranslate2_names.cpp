// SPDX-License-Identifier: Apache-2.0
//
// Hugging Face's names for CTranslate2's variables. A variable is SIDE/layer_N/SCOPE/LEAF or SIDE/SCOPE/LEAF.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "converter/readers/ctranslate2.h"
#include "host/base/bytes.h"

namespace mote::convert {
namespace {

struct Ct2Rule {
  const char* scope;
  /// '|' stands between the names of parts with equally many rows, '#' for the index of the feed-forward in a
  /// T5 block, '*' for "_0" where that has a gate.
  const char* names;
};

constexpr Ct2Rule kBartLayerRules[] = {
    {"self_attention/linear_0", "self_attn.q_proj|self_attn.k_proj|self_attn.v_proj"},
    {"self_attention/linear_1", "self_attn.out_proj"},
    {"self_attention/layer_norm", "self_attn_layer_norm"},
    {"attention/linear_0", "encoder_attn.q_proj"},
    {"attention/linear_1", "encoder_attn.k_proj|encoder_attn.v_proj"},
    {"attention/linear_2", "encoder_attn.out_proj"},
    {"attention/layer_norm", "encoder_attn_layer_norm"},
    {"ffn/linear_0", "fc1"},
    {"ffn/linear_1", "fc2"},
    {"ffn/layer_norm", "final_layer_norm"},
};

constexpr Ct2Rule kBartSideRules[] = {
    {"layer_norm", "layer_norm"},
    {"layernorm_embedding", "layernorm_embedding"},
    {"conv1", "conv1"},
    {"conv2", "conv2"},
};

constexpr Ct2Rule kT5LayerRules[] = {
    {"self_attention/linear_0", "layer.0.SelfAttention.q|layer.0.SelfAttention.k|layer.0.SelfAttention.v"},
    {"self_attention/linear_1", "layer.0.SelfAttention.o"},
    {"self_attention/layer_norm", "layer.0.layer_norm"},
    {"attention/linear_0", "layer.1.EncDecAttention.q"},
    {"attention/linear_1", "layer.1.EncDecAttention.k|layer.1.EncDecAttention.v"},
    {"attention/linear_2", "layer.1.EncDecAttention.o"},
    {"attention/layer_norm", "layer.1.layer_norm"},
    {"ffn/linear_0", "layer.#.DenseReluDense.wi*"},
    {"ffn/linear_0_noact", "layer.#.DenseReluDense.wi_1"},
    {"ffn/linear_1", "layer.#.DenseReluDense.wo"},
    {"ffn/layer_norm", "layer.#.layer_norm"},
};

constexpr Ct2Rule kT5SideRules[] = {{"layer_norm", "final_layer_norm"}};

struct Ct2Leaf {
  const char *leaf, *name;
};
constexpr Ct2Leaf kCt2Leaves[] = {
    {"weight", "weight"}, {"bias", "bias"}, {"gamma", "weight"}, {"beta", "bias"}};

struct ParsedName {
  std::string side, scope, leaf;
  std::optional<uint32_t> layer;
};

/// Nothing of variables that stand elsewhere.
std::optional<ParsedName> parse_name(const std::string& name) {
  ParsedName parsed;
  const size_t first = name.find('/'), last = name.rfind('/');
  if (first == std::string::npos || first == last) return std::nullopt;
  parsed.side = name.substr(0, first);
  parsed.leaf = name.substr(last + 1);
  parsed.scope = name.substr(first + 1, last - first - 1);
  if (parsed.side != "encoder" && parsed.side != "decoder") return std::nullopt;
  constexpr std::string_view kLayer = "layer_";
  const size_t end = parsed.scope.find('/');
  if (!parsed.scope.starts_with(kLayer) || end == std::string::npos) return parsed;
  uint32_t layer = 0;
  const char* const digits = parsed.scope.data() + kLayer.size();
  const auto [stop, error] = std::from_chars(digits, parsed.scope.data() + end, layer);
  if (error != std::errc() || stop != parsed.scope.data() + end) return std::nullopt;
  parsed.layer = layer;
  parsed.scope.erase(0, end + 1);
  return parsed;
}

std::vector<std::string> names_of(std::span<const Ct2Rule> rules, const ParsedName& parsed, bool gated) {
  const auto rule =
      std::find_if(rules.begin(), rules.end(), [&](const Ct2Rule& one) { return parsed.scope == one.scope; });
  std::vector<std::string> names;
  if (rule == rules.end()) return names;
  names.emplace_back();
  for (const char* at = rule->names; *at != '\0'; ++at) {
    if (*at == '|') {
      names.emplace_back();
    } else if (*at == '#') {
      names.back() += parsed.side == "decoder" ? '2' : '1';
    } else if (*at == '*') {
      if (gated) names.back() += "_0";
    } else {
      names.back() += *at;
    }
  }
  return names;
}

std::string ct2_prefix(const ParsedName& parsed, Ct2Family family) {
  const bool t5 = family == Ct2Family::t5;
  const std::string side = (t5 ? "" : "model.") + parsed.side + ".";
  if (!parsed.layer) return side;
  return fmt::format("{}{}.{}.", side, t5 ? "block" : "layers", *parsed.layer);
}

/// Whisper's keys have no bias; CTranslate2 fills the fused vector with zeros.
bool is_left_out(Ct2Family family, const std::string& name) {
  return family == Ct2Family::whisper && name.ends_with("k_proj.bias");
}

void require_zeros(const Ct2Variables& variables, const std::string& name, const SourceTensor& tensor) {
  for (const float value : ct2_read(tensor)) {
    if (value != 0) variables.refuse(fmt::format("{} has a bias of keys, which Whisper has not", name));
  }
}

}  // namespace

void ct2_rename(Ct2Variables& variables, Ct2Family family, Source& source) {
  const bool t5 = family == Ct2Family::t5;
  for (const auto& [name, variable] : variables.all()) {
    const auto parsed = parse_name(name);
    if (!parsed) continue;
    const auto leaf = std::find_if(std::begin(kCt2Leaves), std::end(kCt2Leaves),
                                   [&](const Ct2Leaf& one) { return parsed->leaf == one.leaf; });
    if (leaf == std::end(kCt2Leaves)) continue;
    const std::span<const Ct2Rule> layer_rules =
        t5 ? std::span<const Ct2Rule>(kT5LayerRules) : kBartLayerRules;
    const std::span<const Ct2Rule> side_rules = t5 ? std::span<const Ct2Rule>(kT5SideRules) : kBartSideRules;
    const bool gated = variables.has(name.substr(0, name.rfind('/')) + "_noact/weight");
    const auto names = names_of(parsed->layer ? layer_rules : side_rules, *parsed, gated);
    if (names.empty()) continue;
    const SourceTensor whole = variables.tensor(name);
    const uint64_t rows = whole.shape[0], each = rows / names.size();
    if (rows % names.size() != 0)
      variables.refuse(fmt::format("{} has {} rows for {} matrices", shown(name), rows, names.size()));
    if (names.size() > 1 && whole.shape.size() == 1 && whole.reader != nullptr)
      variables.refuse(fmt::format("{} is a vector of integers", shown(name)));
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string full = ct2_prefix(*parsed, family) + names[i] + "." + leaf->name;
      const SourceTensor part = names.size() == 1 ? whole : ct2_part(whole, i * each, each);
      if (is_left_out(family, full)) {
        require_zeros(variables, name, part);
      } else {
        source.tensors[full] = part;
      }
    }
  }
}

}  // namespace mote::convert
