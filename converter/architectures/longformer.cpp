// SPDX-License-Identifier: Apache-2.0
//
// Longformer (Beltagy et al. 2020): RoBERTa whose tokens see a window on both sides and global tokens, which
// see all by queries, keys and values of their own. Types from the source's number of types on are those of
// global tokens.
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/transformer_builder.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr uint32_t kMostTypes = 1u << 10;

void build_longformer_layer(TransformerBuilder& builder, const LayerSpec& layer) {
  const AttentionSpec& attention = layer.attention;
  const BranchNorms& norms = layer.names.attention_norms;
  BlockInput in = builder.branch_input(layer, norms, "attention");
  const View heads = builder.attended(layer, in);
  const uint32_t width = attention.q_width();
  const View all = builder.new_value(3 * width, Unit::token);
  std::vector<Projection> projections;
  for (const auto& [label, name] :
       {std::pair("q_global", &layer.names.q), std::pair("k_global", &layer.names.k),
        std::pair("v_global", &layer.names.v)}) {
    projections.push_back(builder.projection(label, of_layer(*name, layer) + "_global", width, in.f32.width,
                                             Role::matrix, true));
  }
  builder.linears(prefix_of(layer), in, std::move(projections), all, Activation::none, std::nullopt);
  const uint32_t cache = builder.cache_of(attention);
  builder.add(KvStoreNode{cache, columns(all, width, width), columns(all, 2 * width, width)});
  AttentionNode of_globals{cache, attention.heads, attention.scale, columns(all, 0, width), heads};
  of_globals.globals = GlobalRole::queries;
  builder.add(std::move(of_globals));
  builder.add_branch(layer, norms, "attention", heads, builder.o(layer));
  builder.ffn(layer);
}

uint32_t window_of(Config& config, const nlohmann::json* windows, size_t layer, size_t layers) {
  const nlohmann::json* window = windows;
  if (windows != nullptr && windows->is_array()) {
    if (windows->size() != layers)
      config.refuse_value("attention_window", windows, "a window for each layer");
    window = &(*windows)[layer];
  }
  if (window == nullptr) return 512;
  if (!window->is_number_unsigned() || window->get<uint64_t>() == 0 || window->get<uint64_t>() % 2 != 0 ||
      window->get<uint64_t>() > kMaxSize) {
    config.refuse_value("attention_window", windows, "even numbers above 0");
  }
  return window->get<uint32_t>();
}

}  // namespace

TransformerSpec read_longformer(const Source& source, Config& config) {
  const std::string base = base_of(source, "longformer.");
  TransformerSpec spec = read_bert_like(source, config, base, {});
  set_positions(source, config, spec.position_rows, config.size("pad_token_id", 0, kMaxSize, 1) + 1, spec);
  config.value("onnx_export");
  if (spec.token_types == 0 || spec.token_types > kMostTypes)
    config.refuse("type_vocab_size {}, at least 1 and at most {} are supported", spec.token_types,
                  kMostTypes);
  const nlohmann::json* windows = config.value("attention_window");
  for (size_t i = 0; i < spec.layers.size(); ++i) {
    LayerSpec& layer = spec.layers[i];
    layer.attention.sides = window_of(config, windows, i, spec.layers.size()) / 2;
    layer.attention.global_keys = true;
    layer.build = build_longformer_layer;
  }
  read_head(source, config, roberta_heads(base, spec.width), spec);
  GlobalSpec globals{spec.token_types, GlobalDefault::none, config.token_id("sep_token_id", spec.vocab, 2)};
  if (spec.head.kind == OutputKind::sequence_labels) globals.by_default = GlobalDefault::first;
  if (spec.head.kind == OutputKind::answer_span) {
    if (globals.separator == -1) config.refuse("answers need a sep_token_id, which ends the question");
    globals.by_default = GlobalDefault::before_separator;
  }
  spec.globals = globals;
  return spec;
}

}  // namespace mote::convert
