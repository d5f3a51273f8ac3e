// SPDX-License-Identifier: Apache-2.0
//
// Nyströmformer (Xiong et al. 2021): BERT whose attention goes through landmarks, with a convolution of the
// values beside it. With as many landmarks as tokens the original attends to all.
#include "converter/architectures/shared/architecture.h"
#include "converter/layers/transformer_builder.h"

namespace mote::convert {
namespace {

constexpr uint32_t kFirstPosition = 2;

struct Landmarks {
  uint32_t count, tokens;  // equal: attention to all
  uint32_t taps;           // of the convolution; 0: there is none
  bool all() const { return count == tokens; }
};

/// Adds a convolution of each head's values by the head's own taps.
void add_convolution(TransformerBuilder& builder, const LayerSpec& layer, uint32_t taps, View v, View heads) {
  const AttentionSpec& attention = layer.attention;
  const std::vector<float> of_heads =
      builder.tensors().table(of_layer(layer.names.q_norm, layer), attention.heads, taps);
  std::vector<float> weight;  // [taps, columns]
  for (size_t tap = 0; tap < taps; ++tap) {
    for (size_t head = 0; head < attention.heads; ++head)
      weight.insert(weight.end(), attention.head_dim, of_heads[head * taps + tap]);
  }
  const int32_t table = builder.add_weight(
      {prefix_of(layer) + "convolution", DType::f32, true, taps, v.width, {}, std::move(weight)});
  const View sums = builder.new_value(v.width, Unit::token);
  builder.add(DepthwiseConvNode{v.width, taps, taps / 2, 1, 0, 1, Activation::none, table, -1, v, sums});
  builder.add(ScaleRowsNode{heads, heads, -1, 1.0f, sums});
}

void build_nystrom_layer(const Landmarks& landmarks, TransformerBuilder& builder, const LayerSpec& layer) {
  const AttentionSpec& attention = layer.attention;
  const BranchNorms& norms = layer.names.attention_norms;
  const uint32_t width = attention.q_width();
  BlockInput in = builder.branch_input(layer, norms, "attention");
  const View all = builder.new_value(3 * width, Unit::token);
  std::vector<Projection> projections;
  for (const auto& [label, name] :
       {std::pair("q", &layer.names.q), std::pair("k", &layer.names.k), std::pair("v", &layer.names.v)}) {
    projections.push_back(
        builder.projection(label, of_layer(*name, layer), width, in.f32.width, Role::matrix, true));
  }
  builder.linears(prefix_of(layer), in, std::move(projections), all, Activation::none, std::nullopt);
  const View q = columns(all, 0, width), k = columns(all, width, width), v = columns(all, 2 * width, width);
  View heads{};
  if (landmarks.all()) {
    heads = builder.attend_heads(layer, q, k, v);
  } else {
    heads = builder.new_value(width, Unit::token);
    builder.add(NystromNode{attention.heads, landmarks.count, attention.scale, q, k, v, heads});
  }
  if (landmarks.taps != 0) add_convolution(builder, layer, landmarks.taps, v, heads);
  builder.add_branch(layer, norms, "attention", heads, builder.o(layer));
  builder.ffn(layer);
}

Landmarks read_landmarks(Config& config, TransformerSpec& spec) {
  Landmarks landmarks{};
  landmarks.count = config.size("num_landmarks", 1, kMaxSize, 64);
  landmarks.tokens = config.size("segment_means_seq_len", 1, kMaxSize, 64);
  landmarks.taps = config.optional_size("conv_kernel_size", 0, 1u << 10, 65).value_or(0);
  if (landmarks.taps != 0 && landmarks.taps % 2 == 0)
    config.refuse("conv_kernel_size {} is even", landmarks.taps);
  require_flag(config, "inv_coeff_init_option", false);
  if (landmarks.all()) return landmarks;
  if (landmarks.tokens % landmarks.count != 0)
    config.refuse("segment_means_seq_len {} is not a multiple of num_landmarks {}", landmarks.tokens,
                  landmarks.count);
  if (landmarks.tokens > spec.context)
    config.refuse("segment_means_seq_len {} of {} positions", landmarks.tokens, spec.context);
  spec.context = landmarks.tokens;
  spec.notes.emplace_back(
      "texts have exactly segment_means_seq_len tokens, as the original's; each is computed by itself, where "
      "the "
      "original's landmarks depend on the other texts of a batch");
  return landmarks;
}

}  // namespace

TransformerSpec read_nystromformer(const Source& source, Config& config) {
  const std::string base = base_of(source, "nystromformer.");
  BertDefaults defaults{.vocab = 30000, .activation = "gelu_new", .context = 510, .eps = 1e-5};
  TransformerSpec spec = read_bert_like(source, config, base, defaults);
  set_positions(source, config, spec.position_rows + kFirstPosition, kFirstPosition, spec);
  config.flag("add_cross_attention", false);
  const Landmarks landmarks = read_landmarks(config, spec);
  for (LayerSpec& layer : spec.layers) {
    layer.names.q_norm = base + "encoder.layer.{}.attention.self.conv.weight";  // that of the values
    layer.build = [landmarks](TransformerBuilder& builder, const LayerSpec& own) {
      if (own.weights == 0 && !landmarks.all()) builder.require_tokens(landmarks.tokens);
      build_nystrom_layer(landmarks, builder, own);
    };
  }
  const HeadNames names = roformer_heads(base, spec, spec.width);
  read_head(source, config, names, spec);
  return spec;
}

}  // namespace mote::convert
