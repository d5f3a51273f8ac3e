// SPDX-License-Identifier: Apache-2.0
//
// Gemma 3n (Gemma Team 2025), of text: Gemma 4's inputs of each layer and shared keys, several residual
// streams of which one passes the layer (alternating updates, Baykal et al. 2023), a low-rank branch beside
// the attention (Menghani et al. 2024), and first layers whose gates keep only their largest columns.
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "converter/architectures/shared/architecture.h"
#include "converter/layers/transformer_builder.h"

namespace mote::convert {
namespace {

constexpr float kSmallestMeanSquare = 1e-5f;  // of a stream that is scaled
constexpr uint32_t kMaxStreams = 16;

struct AltUp {
  uint32_t streams, width;
  uint32_t rank;         // of the low-rank branch
  bool scales;           // the first stream before it makes the layer's own input
  std::string base;      // starts the names of the model's weights
  std::string of_layer;  // starts those of a layer's
  View stream(View all, uint32_t index) const { return columns(all, index * width, width); }
};

/// Streams besides the first are projections of the embedding, of its root mean square.
View expand(TransformerBuilder& builder, const AltUp& altup, View embedded) {
  const View streams = builder.new_value(altup.streams * altup.width, Unit::token);
  builder.add(ScaleRowsNode{embedded, altup.stream(streams, 0)});
  BlockInput in{embedded};
  for (uint32_t i = 1; i < altup.streams; ++i) {
    const View stream = altup.stream(streams, i);
    builder.linears("", in,
                    {builder.projection(fmt::format("altup_projection.{}", i - 1),
                                        fmt::format("{}altup_projections.{}", altup.base, i - 1), altup.width,
                                        altup.width, Role::matrix, false)},
                    stream, Activation::none, std::nullopt);
    builder.add(MatchRmsNode{kSmallestMeanSquare, stream, embedded, stream});
  }
  return streams;
}

/// The mean of the first stream and of projections of the others that have its root mean square.
View collapse(TransformerBuilder& builder, const AltUp& altup, View last) {
  const View sum = altup.stream(last, 0), first = builder.new_value(altup.width, Unit::selected);
  builder.add(ScaleRowsNode{sum, first});
  for (uint32_t i = 1; i < altup.streams; ++i) {
    const View other = builder.new_value(altup.width, Unit::selected);
    builder.linear(fmt::format("altup_unembed_projection.{}", i - 1),
                   fmt::format("{}altup_unembed_projections.{}", altup.base, i - 1), Role::matrix,
                   altup.stream(last, i), other, Activation::none, false);
    builder.add(MatchRmsNode{kSmallestMeanSquare, other, first, other});
    builder.add(ScaleRowsNode{other, sum, -1, 1.0f, sum});
  }
  builder.scale(sum, 1.0f / static_cast<float>(altup.streams));
  return sum;
}

class LayerBuilder {
 public:
  LayerBuilder(TransformerBuilder& builder, const LayerSpec& layer, const AltUp& altup)
      : builder_(builder), layer_(layer), altup_(altup), prefix_(prefix_of(layer)) {}

  void build() {
    const View streams = builder_.x(), predicted = builder_.new_value(streams.width, Unit::token);
    const uint32_t n = altup_.streams;
    const View prediction = coefficients("prediction_coefs", altup_.stream(streams, 0), n * n, 0.0f);
    builder_.add(MixStreamsNode{n, streams, prediction, streams, predicted});

    const View active = altup_.stream(predicted, 0), sum = branches(active);
    const View correction = coefficients("correction_coefs", sum, n, 1.0f);
    builder_.add(ScaleRowsNode{active, active_change_ = value(), -1, -1.0f, sum});
    builder_.add(MixStreamsNode{n, active_change_, correction, predicted, streams});

    const View input = value(), first = altup_.stream(streams, 0);
    builder_.add(ScaleRowsNode{first, input, scale()});
    const View own = builder_.per_layer_branch(layer_, input);
    for (uint32_t i = 1; i < n; ++i) {
      const View stream = altup_.stream(streams, i);
      builder_.add(ScaleRowsNode{own, stream, -1, 1.0f, stream});
    }
  }

 private:
  View value() { return builder_.new_value(altup_.width, Unit::token); }
  std::string name(const char* end) const { return of_layer(altup_.of_layer + end, layer_); }
  void add_to(View sum, View x) { builder_.add(ScaleRowsNode{x, sum, -1, 1.0f, sum}); }
  void norm(const char* label, const std::string& source, View in, View out) {
    builder_.norm(prefix_ + label, of_layer(source, layer_), in, out);
  }

  /// matrix(tanh(router(norm(x) / width of x))) + bias.
  View coefficients(const char* matrix, View x, uint32_t count, float bias) {
    const View normed = value(), modalities = builder_.new_value(altup_.streams, Unit::token);
    builder_.norm(prefix_ + "router_norm", name("altup.router_norm"), x, normed);
    builder_.scale(normed, 1.0f / static_cast<float>(altup_.width));
    builder_.linear(prefix_ + "router", name("altup.modality_router"), Role::fine, normed, modalities,
                    Activation::tanh, false);
    const View out = builder_.new_value(count, Unit::token);
    Projection projection =
        builder_.projection(matrix, name("altup.") + matrix, count, altup_.streams, Role::fine, false);
    if (bias != 0.0f) projection.bias = std::vector<float>(count, bias);
    BlockInput in{modalities};
    builder_.linears(prefix_, in, {std::move(projection)}, out, Activation::none, std::nullopt);
    return out;
  }

  /// Computes the layer's branches from the stream that passes it.
  View branches(View x) {
    const LayerNames& names = layer_.names;
    BlockInput in{value()};
    norm("attention_norm", names.attention_norms.before, x, in.f32);
    const View sum = value(), low = builder_.new_value(altup_.rank, Unit::token), laurel = value();
    branch(builder_.attended(layer_, in), builder_.o(layer_), "attention_after_norm",
           names.attention_norms.after, x, sum);
    linear("laurel_left", "laurel.linear_left", in, low);
    BlockInput rank{low};
    linear("laurel_right", "laurel.linear_right", rank, laurel);
    norm("laurel_norm", altup_.of_layer + "laurel.post_laurel_norm", laurel, laurel);
    add_to(laurel, in.f32);
    add_to(sum, laurel);
    builder_.scale(sum, std::sqrt(0.5f));

    BlockInput ffn_in{value()};
    norm("ffn_norm", names.ffn_norms.before, sum, ffn_in.f32);
    branch(builder_.ffn_inner(layer_, ffn_in), builder_.down(layer_), "ffn_after_norm", names.ffn_norms.after,
           sum, sum);
    return sum;
  }

  /// out = residual + norm(last(in)).
  void branch(View in, Projection last, const char* label, const std::string& after, View residual,
              View out) {
    const View branch = value();
    BlockInput input{in};
    builder_.linears(prefix_, input, {std::move(last)}, branch, Activation::none, std::nullopt);
    norm(label, after, branch, branch);
    builder_.add(ScaleRowsNode{branch, out, -1, 1.0f, residual});
  }

  void linear(const char* label, const char* source, BlockInput& in, View out) {
    builder_.linears(prefix_, in,
                     {builder_.projection(label, name(source), out.width, in.f32.width, Role::matrix, false)},
                     out, Activation::none, std::nullopt);
  }

  int32_t scale() {
    if (!altup_.scales) return -1;
    return builder_.add_vector(prefix_ + "altup_scale",
                               builder_.tensors().vector(name("altup.correct_output_scale"), altup_.width));
  }

  TransformerBuilder& builder_;
  const LayerSpec& layer_;
  const AltUp& altup_;
  std::string prefix_;
  View active_change_{};
};

/// A number for each layer: of a list, or one for all. None: the key is absent.
std::vector<double> read_by_layer(Config& config, const std::string& key, size_t layers) {
  const nlohmann::json* value = config.value(key);
  if (value == nullptr) return {};
  std::vector<double> numbers;
  if (value->is_number()) numbers.assign(layers, value->get<double>());
  if (value->is_array()) {
    for (const nlohmann::json& one : *value) numbers.push_back(one.is_number() ? one.get<double>() : NAN);
  }
  const bool finite = std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::isfinite(x); });
  if (numbers.size() != layers || !finite) config.refuse_value(key, value, "a number for each layer");
  return numbers;
}

/// z of the standard normal distribution with P(Z <= z) = share, by Newton's method on its distribution.
double normal_quantile(double share) {
  double z = 0.0;
  for (int i = 0; i < 100; ++i) {
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    const double step = (std::erfc(-z / std::sqrt(2.0)) / 2 - share) / density;
    z -= std::clamp(step, -0.5, 0.5);
  }
  return z;
}

void read_ffn(Config& config, std::vector<LayerSpec>& layers) {
  const std::vector<double> widths = read_by_layer(config, "intermediate_size", layers.size());
  const std::vector<double> sparsity = read_by_layer(config, "activation_sparsity_pattern", layers.size());
  for (size_t i = 0; i < layers.size(); ++i) {
    const double width = widths.empty() ? 16384 : widths[i];
    if (!(width >= 1 && width <= kMaxSize) || width != std::floor(width))
      config.refuse("intermediate_size is {} in layer {}", width, i);
    layers[i].ffn.width = static_cast<uint32_t>(width);
    const double share = !sparsity.empty() ? sparsity[i] : layers.size() > 10 && i < 10 ? 0.95 : 0.0;
    if (share <= 0.0) continue;
    if (share > 0.999999) config.refuse("activation_sparsity_pattern is {} in layer {}", share, i);
    layers[i].ffn.cutoff = static_cast<float>(normal_quantile(share));
  }
}

void read_layer_kinds(Config& config, TransformerSpec& spec) {
  const std::vector<bool> slides =
      read_sliding_layers(config, spec.layers.size(), [](uint32_t layer) { return (layer + 1) % 5 != 0; });
  const uint32_t window = config.size("sliding_window", 1, kMaxSize, 512);
  KindRopeKeys keys{{.theta = 1e6}, {.theta = 1e4, .theta_key = "rope_local_base_freq"}};
  keys.full_head_dim = keys.sliding_head_dim = spec.layers[0].attention.head_dim;
  KindRopes ropes = read_kind_ropes(config, keys, spec.context);
  spec.ropes = {std::move(ropes.full), std::move(ropes.sliding)};
  for (size_t i = 0; i < slides.size(); ++i) {
    spec.layers[i].attention.rope = slides[i] ? 1 : 0;
    if (slides[i]) spec.layers[i].attention.window = window;
  }
  share_last_keys(config, slides, 15, spec);
}

void read_altup(Config& config, const std::string& base, TransformerSpec& spec) {
  AltUp altup{config.size("altup_num_inputs", 1, kMaxStreams, 4),
              spec.width,
              config.size("laurel_rank", 1, kMaxSize, 64),
              config.flag("altup_correct_scale", true),
              base,
              base + "layers.{}."};
  if (config.size("altup_active_idx", 0, kMaxStreams, 0) != 0) config.refuse("altup_active_idx is not 0");
  config.value("altup_coef_clip");  // of training
  if (!altup.scales) spec.names.ignored.emplace_back("altup.correct_output_scale");
  spec.expand = [altup](TransformerBuilder& builder, View x) { return expand(builder, altup, x); };
  spec.before_head = [altup](TransformerBuilder& builder, View x) { return collapse(builder, altup, x); };
  for (LayerSpec& layer : spec.layers) {
    layer.build = [altup](TransformerBuilder& builder, const LayerSpec& one) {
      LayerBuilder(builder, one, altup).build();
    };
  }
}

}  // namespace

TransformerSpec read_gemma3n_text(const Source& source, Config& config) {
  TransformerSpec spec = read_llama_like(source, config, "gemma3n_text");
  spec.embedding_multiplier = std::sqrt(static_cast<float>(spec.width));
  spec.last_hidden_unnormed = true;
  const std::string base = base_of(source, "model.");
  set_gemma4_names(base + "layers.{}.", spec.layers);
  read_ffn(config, spec.layers);
  read_layer_kinds(config, spec);
  read_layer_inputs(config, base, spec);
  if (spec.per_layer.width == 0) config.refuse("hidden_size_per_layer_input is 0");
  read_altup(config, base, spec);
  const double cap = config.number("final_logit_softcapping", 30.0);
  if (!(cap > 0)) config.refuse("final_logit_softcapping is {}", cap);
  spec.logit_softcap = static_cast<float>(cap);
  return spec;
}

}  // namespace mote::convert
