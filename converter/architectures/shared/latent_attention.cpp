// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/shared/latent_attention.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr float kLatentNormEps = 1e-6f;  // of the latents, whatever the config says

class LatentBuilder {
 public:
  LatentBuilder(TransformerBuilder& builder, const LayerSpec& layer, const LatentSpec& spec)
      : builder_(builder), layer_(layer), spec_(spec), prefix_(prefix_of(layer)) {}

  /// The heads' outputs side by side.
  View attended(BlockInput& in) {
    const uint32_t key_dim = spec_.rope_dim + spec_.rank;
    const View key = latent(in);
    const View q = queries(in);
    const RopeKind kind = builder_.rope_kind(spec_.rope);
    builder_.add(RopeNode{kind, spec_.heads, builder_.rope_table(spec_.rope), q});
    builder_.add(RopeNode{kind, 1, builder_.rope_table(spec_.rope), key});
    const uint32_t cache = builder_.add_state({1, key_dim, 0, false, spec_.rank});
    builder_.add(KvStoreNode{cache, key, columns(key, spec_.rope_dim, spec_.rank)});
    const View sums = builder_.new_value(spec_.heads * spec_.rank, Unit::token);
    AttentionNode attention{cache, spec_.heads, spec_.scale, q, sums};
    attention.causal = layer_.attention.causal;
    builder_.add(attention);
    const View out = builder_.new_value(spec_.heads * spec_.value_dim, Unit::token);
    by_head("v_up", sums, out, spec_.rank, spec_.value_dim, spec_.value_dim, false);
    return out;
  }

 private:
  std::string name(const std::string& pattern) const { return of_layer(pattern, layer_); }

  View norm(const std::string& label, const std::string& source, View view) {
    const int32_t weight =
        builder_.add_vector(prefix_ + label, builder_.tensors().vector(name(source) + ".weight", view.width));
    builder_.add(NormNode{NormKind::rms, kLatentNormEps, 1, weight, -1, view, view});
    return view;
  }

  /// A token's key: the part with RoPE, then the latent.
  View latent(BlockInput& in) {
    const View key = builder_.new_value(spec_.rope_dim + spec_.rank, Unit::token);
    Projection rope = builder_.projection("k_rope", name(spec_.kv_a), spec_.rank + spec_.rope_dim,
                                          in.f32.width, Role::matrix, spec_.bias);
    Projection plain = rope;
    plain.label = "kv_latent";
    rope.parts[0].first_row = spec_.rank;
    rope.parts[0].rows = spec_.rope_dim;
    plain.parts[0].rows = spec_.rank;
    if (rope.bias) {
      const auto split = rope.bias->begin() + spec_.rank;
      plain.bias = std::vector<float>(rope.bias->begin(), split);
      rope.bias = std::vector<float>(split, rope.bias->end());
    }
    builder_.linears(prefix_, in, {rope, plain}, key, Activation::none, std::nullopt);
    norm("kv_norm", spec_.kv_norm, columns(key, spec_.rope_dim, spec_.rank));
    return key;
  }

  /// Heads of queries in the order of the key.
  View queries(BlockInput& in) {
    const uint32_t head = spec_.plain_dim + spec_.rope_dim, key_dim = spec_.rope_dim + spec_.rank;
    const View own = builder_.new_value(spec_.heads * head, Unit::token);
    if (spec_.q_rank == 0) {
      project("q", spec_.q, in, own, false);
    } else {
      const View rank = builder_.new_value(spec_.q_rank, Unit::token);
      project("q_latent", spec_.q_a, in, rank, spec_.bias);
      BlockInput normed{norm("q_norm", spec_.q_norm, rank)};
      project("q", spec_.q_b, normed, own, false);
    }
    const View plain = builder_.new_value(spec_.heads * spec_.plain_dim, Unit::token);
    const View q = builder_.new_value(spec_.heads * key_dim, Unit::token);
    for (uint32_t h = 0; h < spec_.heads; ++h) {
      builder_.add(ScaleRowsNode{columns(own, h * head, spec_.plain_dim),
                                 columns(plain, h * spec_.plain_dim, spec_.plain_dim)});
      builder_.add(ScaleRowsNode{columns(own, h * head + spec_.plain_dim, spec_.rope_dim),
                                 columns(q, h * key_dim, spec_.rope_dim)});
    }
    by_head("k_up", plain, columns(q, spec_.rope_dim, q.width - spec_.rope_dim), spec_.plain_dim, spec_.rank,
            key_dim, true);
    return q;
  }

  void project(const char* label, const std::string& source, BlockInput& in, View out, bool bias) {
    builder_.linears(prefix_, in,
                     {builder_.projection(label, name(source), out.width, in.f32.width, Role::matrix, bias)},
                     out, Activation::none, std::nullopt);
  }

  /// Each head's `inputs` columns of `in` by its rows of kv_b: of keys, transposed, or of values. Its outputs
  /// are `stride` columns apart.
  void by_head(const std::string& label, View in, View out, uint32_t inputs, uint32_t outputs,
               uint32_t stride, bool keys) {
    const uint32_t head_rows = spec_.plain_dim + spec_.value_dim;
    const uint32_t rows_of_one = static_cast<uint32_t>(align_up(outputs, kPanelRows));
    std::vector<WeightPart> parts;
    const std::string split = name(keys ? spec_.k_b : spec_.v_b) + ".weight",
                      whole = name(spec_.kv_b) + ".weight";
    const bool is_split = builder_.tensors().has(split);
    for (uint32_t h = 0; h < spec_.heads; ++h) {
      parts.push_back(is_split ? builder_.tensors().rows(split, spec_.heads * outputs, inputs, h * outputs,
                                                         outputs, false)
                               : builder_.tensors().rows(whole, spec_.heads * head_rows, spec_.rank,
                                                         h * head_rows + (keys ? 0 : spec_.plain_dim),
                                                         keys ? spec_.plain_dim : spec_.value_dim, keys));
      if (outputs < rows_of_one) parts.push_back({"", nullptr, false, rows_of_one - outputs});
    }
    DType dtype = builder_.policy().dtype(Role::experts, *parts[0].tensor);
    // A head's part of a row of quantized inputs begins with a supercell.
    if (takes_quantized(dtype) && inputs % kSupercellColumns != 0) dtype = DType::f32;
    BlockInput input{in};
    const View from = builder_.input_for(input, dtype);
    const int32_t weight = builder_.add_matrix(prefix_ + label, dtype, false, inputs, std::move(parts));
    builder_.add(ExpertsNode{spec_.heads, weight, -1, Activation::none, false, std::nullopt, from, out,
                             std::nullopt, stride});
  }

  TransformerBuilder& builder_;
  const LayerSpec& layer_;
  const LatentSpec& spec_;
  std::string prefix_;
};

/// The factor of YaRN's configs by which scores grow.
double yarn_scale(Config& config) {
  const nlohmann::json* now = config.value("rope_parameters");
  const nlohmann::json* rope = now != nullptr ? now : config.value("rope_scaling");
  if (rope == nullptr || !rope->is_object() || !rope->contains("mscale_all_dim")) return 1.0;
  const nlohmann::json &all = (*rope)["mscale_all_dim"], factor = rope->value("factor", nlohmann::json(1.0));
  const nlohmann::json type = rope->value("rope_type", rope->value("type", nlohmann::json("default")));
  if (type == "default" || !all.is_number() || !factor.is_number() || factor.get<double>() <= 1.0) return 1.0;
  const double mscale = 0.1 * all.get<double>() * std::log(factor.get<double>()) + 1.0;
  return all.get<double>() == 0.0 ? 1.0 : mscale * mscale;
}

}  // namespace

LatentSpec read_latent(Config& config, uint32_t width, const std::string& prefix,
                       const LatentDefaults& defaults) {
  LatentSpec spec;
  spec.heads = config.size("num_attention_heads", 1, kMaxSize, defaults.heads);
  if (config.optional_size("num_key_value_heads", 1, kMaxSize, defaults.heads).value_or(spec.heads) !=
      spec.heads)
    config.refuse("num_key_value_heads is not num_attention_heads, {}", spec.heads);
  spec.rank = config.size("kv_lora_rank", 1, kMaxHeadDim, defaults.rank);
  spec.q_rank = config.optional_size("q_lora_rank", 1, kMaxSize, defaults.q_rank).value_or(0);
  spec.plain_dim = config.size("qk_nope_head_dim", 1, kMaxHeadDim, defaults.plain_dim);
  spec.rope_dim = config.size("qk_rope_head_dim", 2, kMaxHeadDim, defaults.rope_dim);
  spec.value_dim =
      config.optional_size("v_head_dim", 1, kMaxHeadDim, defaults.value_dim).value_or(width / spec.heads);
  const uint32_t head_dim = spec.plain_dim + spec.rope_dim;
  if (config.size("qk_head_dim", 1, 2 * kMaxHeadDim, head_dim) != head_dim)
    config.refuse("qk_head_dim is not qk_nope_head_dim and qk_rope_head_dim together, {}", head_dim);
  config.value("head_dim");  // of RoPE, which qk_rope_head_dim has
  const uint64_t all = uint64_t{spec.heads} * (spec.rank + spec.rope_dim + head_dim + spec.value_dim);
  if (spec.rank + spec.rope_dim > kMaxHeadDim || all > kMaxSize)
    config.refuse("{} heads with a latent of {}", spec.heads, spec.rank);
  spec.scale = static_cast<float>(yarn_scale(config) / std::sqrt(head_dim));
  spec.bias = config.flag("attention_bias", false);
  spec.q = prefix + "q_proj";
  spec.q_a = prefix + "q_a_proj";
  spec.q_norm = prefix + "q_a_layernorm";
  spec.q_b = prefix + "q_b_proj";
  spec.kv_a = prefix + "kv_a_proj_with_mqa";
  spec.kv_norm = prefix + "kv_a_layernorm";
  spec.kv_b = prefix + "kv_b_proj";
  spec.k_b = prefix + "k_b_proj";
  spec.v_b = prefix + "v_b_proj";
  return spec;
}

void latent_attention(TransformerBuilder& builder, const LayerSpec& layer, const LatentSpec& spec) {
  const BranchNorms& norms = layer.names.attention_norms;
  BlockInput in = builder.branch_input(layer, norms, "attention");
  const View heads = LatentBuilder(builder, layer, spec).attended(in);
  builder.add_branch(layer, norms, "attention", heads,
                     builder.projection("o", of_layer(layer.names.o, layer), builder.x().width, heads.width,
                                        Role::matrix, spec.bias));
}

}  // namespace mote::convert
