// SPDX-License-Identifier: Apache-2.0
//
// wav2vec 2.0 (Baevski et al. 2020) and HuBERT (Hsu et al. 2021): convolutions over a waveform, then an
// encoder whose positions come from one more convolution.
#include "converter/architectures/wav2vec2.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "converter/architectures/shared/ctc_texts.h"
#include "converter/architectures/shared/sound_settings.h"
#include "converter/layers/sound_stem.h"

namespace mote::convert {
namespace {

constexpr uint32_t kMostWaveformRows = 1u << 19;  // of samples, some minutes of sound
constexpr float kStemEps = 1e-5f;                 // of the norms between the convolutions

struct WaveformStem {
  std::string base;
  std::vector<TimeConv> convs;
  bool layer_norms = false;  // behind every convolution; else a norm over time behind the first
  Activation activation = Activation::gelu;
  bool feature_norm = true;
  uint32_t position_groups = 0, position_taps = 0;  // 0: no positional convolution
  std::string first_norm;                           // of what the first layer reads; empty: none
};

WaveformStem read_waveform_stem(Config& config, const std::string& base) {
  WaveformStem stem;
  stem.base = base;
  const std::vector<uint32_t> widths = read_conv_sizes(config, "conv_dim", std::vector<uint32_t>(7, 512));
  const std::vector<uint32_t> taps = read_conv_sizes(config, "conv_kernel", {10, 3, 3, 3, 3, 2, 2});
  const std::vector<uint32_t> strides = read_conv_sizes(config, "conv_stride", {5, 2, 2, 2, 2, 2, 2});
  if (widths.empty() || widths.size() != taps.size() || widths.size() != strides.size())
    config.refuse("conv_dim, conv_kernel and conv_stride have {}, {} and {} items", widths.size(),
                  taps.size(), strides.size());
  const bool bias = config.flag("conv_bias", false);
  for (size_t i = 0; i < widths.size(); ++i) {
    stem.convs.push_back({fmt::format("{}feature_extractor.conv_layers.{}.conv", base, i), widths[i], taps[i],
                          strides[i], 0, 0, bias});
  }
  const std::string norm = config.text("feat_extract_norm", "group");
  if (norm != "group" && norm != "layer") config.refuse("feat_extract_norm {} is not supported", norm);
  stem.layer_norms = norm == "layer";
  stem.activation = read_activation(config, "feat_extract_activation", "gelu");
  return stem;
}

View build_convolutions(TransformerBuilder& builder, const WaveformStem& stem) {
  View x{};
  for (size_t i = 0; i < stem.convs.size(); ++i) {
    const TimeConv& conv = stem.convs[i];
    const std::string label = fmt::format("stem.conv.{}", i);
    const bool normed = stem.layer_norms || i == 0;
    const Activation direct = normed ? Activation::none : stem.activation;
    x = i == 0 ? waveform_conv(builder, label, conv, direct) : time_conv(builder, label, conv, x, direct);
    if (!normed) continue;
    const std::string source = fmt::format("{}feature_extractor.conv_layers.{}.layer_norm", stem.base, i);
    const int32_t weight =
        builder.add_vector(label + ".norm", builder.tensors().vector(source + ".weight", conv.width));
    const int32_t bias =
        builder.add_vector(label + ".norm.bias", builder.tensors().vector(source + ".bias", conv.width));
    if (stem.layer_norms) {
      builder.add(NormNode{NormKind::layer, kStemEps, 1, weight, bias, x, x});
      builder.add(ActivateNode{stem.activation, x, x});
    } else {
      builder.add(TimeNormNode{conv.width, kStemEps, stem.activation, weight, bias, x, x});
    }
  }
  return x;
}

View build_waveform_stem(TransformerBuilder& builder, const WaveformStem& stem, uint32_t width) {
  const View features = build_convolutions(builder, stem);
  const std::string projection = stem.base + "feature_projection.";
  if (stem.feature_norm) builder.norm("stem.feature_norm", projection + "layer_norm", features, features);
  builder.probe("extract_features", features);
  View x = builder.new_value(width, Unit::token);
  builder.linear("stem.projection", projection + "projection", Role::matrix, features, x, Activation::none,
                 true);
  if (stem.position_taps != 0) {
    const std::string source = stem.base + "encoder.pos_conv_embed.conv";
    const uint32_t taps = stem.position_taps, groups = stem.position_groups;
    const std::vector<float> weight = weight_of_norm(builder.tensors(), source, width, width / groups, taps);
    x = add_positional_conv(builder, "stem.positions", groups, taps, stem.activation, weight,
                            builder.tensors().vector(source + ".bias", width), x);
  }
  if (!stem.first_norm.empty()) builder.norm("stem.norm", stem.first_norm, x, x);
  return x;
}

void read_speech_head(const Source& source, Config& config, TransformerSpec& spec) {
  const nlohmann::json* names = config.value("architectures");
  const std::string name =
      names != nullptr && names->is_array() && !names->empty() ? (*names)[0].dump() : "\"Model\"";
  if (name.ends_with("ForCTC\"")) {
    spec.head.kind = OutputKind::token_labels;
    spec.head.output = "lm_head";
    CtcTexts texts = read_ctc_texts(source, spec.vocab);
    spec.head.labels = std::move(texts.labels);
    spec.head.width = spec.vocab;
    const int32_t padding = config.token_id("pad_token_id", spec.vocab, 0);
    spec.sound->blank = texts.blank < 0 ? padding : texts.blank;
    spec.sound->cleans_up = texts.cleans_up;
    return;
  }
  if (name.ends_with("ForSequenceClassification\"")) return read_sound_labels(source, config, spec);
  if (!name.ends_with("Model\"") && !name.ends_with("ForPreTraining\""))
    config.refuse(
        "architectures {} is not supported; of models of speech, those for CTC, those for labels of a sound "
        "and bare "
        "ones are",
        name);
  spec.head.kind = OutputKind::hidden;
  spec.head.probabilities = Probabilities::none;
  spec.names.ignored_starts = {"lm_head.", "quantizer.", "project_hid.", "project_q."};
}

LayerNames wav2vec2_layer_names(const std::string& base, bool pre_norm) {
  return (pre_norm ? pre_norm_names : post_norm_names)(
      base + "encoder.layers.{}.",
      {"attention.q_proj", "attention.k_proj", "attention.v_proj", "attention.out_proj", "layer_norm",
       "feed_forward.intermediate_dense", "feed_forward.output_dense", "final_layer_norm"});
}

}  // namespace

std::vector<uint32_t> read_conv_sizes(Config& config, const std::string& key,
                                      const std::vector<uint32_t>& fallback) {
  const nlohmann::json* value = config.value(key);
  if (value == nullptr) return fallback;
  std::vector<uint32_t> sizes;
  for (const nlohmann::json& item : value->is_array() ? *value : nlohmann::json::array()) {
    const bool fits =
        item.is_number_unsigned() && item.get<uint64_t>() >= 1 && item.get<uint64_t>() <= kMaxSize;
    if (!fits) config.refuse_value(key, value, "a list of sizes");
    sizes.push_back(item.get<uint32_t>());
  }
  return sizes;
}

void read_unused_wav2vec2_keys(Config& config) {
  know_spec_augment(config);
  know(config, {"activation_dropout",
                "adapter_kernel_size",
                "adapter_stride",
                "bos_token_id",
                "classifier_proj_size",
                "codevector_dim",
                "contrastive_logits_temperature",
                "conv_depthwise_dropout",
                "ctc_loss_reduction",
                "ctc_zero_infinity",
                "diversity_loss_weight",
                "eos_token_id",
                "feat_proj_dropout",
                "feat_quantizer_dropout",
                "final_dropout",
                "layerdrop",
                "num_adapter_layers",
                "num_codevector_groups",
                "num_codevectors_per_group",
                "num_ctc_classes",
                "num_feat_extract_layers",
                "num_negatives",
                "output_hidden_size",
                "pad_token_id",
                "proj_codevector_dim",
                "tdnn_dilation",
                "tdnn_dim",
                "tdnn_kernel",
                "use_weighted_layer_sum",
                "xvector_output_dim",
                "gradient_checkpointing",
                "feat_extract_dropout",
                "mask_channel_length",
                "mask_channel_min_space",
                "mask_channel_other",
                "mask_channel_prob",
                "mask_channel_selection",
                "mask_time_min_space",
                "mask_time_other",
                "mask_time_selection",
                "num_feat_extract_layers",
                "tokenizer_class",
                "freeze_feat_extract_train",
                "no_mask_channel_overlap",
                "no_mask_time_overlap",
                "conformer_conv_dropout",
                "id2label",
                "label2id"});
}

std::string wav2vec2_base(const Source& source) {
  for (const char* base : {"wav2vec2.", "hubert.", "wavlm.", "wav2vec2_conformer."}) {
    const std::string found = base_of(source, base);
    if (!found.empty()) return found;
  }
  return "";
}

TransformerSpec read_wav2vec2_like(const Source& source, Config& config, bool positions) {
  TransformerSpec spec;
  const std::string base = wav2vec2_base(source);
  spec.vocab = config.size("vocab_size", 1, kMaxSize, 32);
  spec.width = config.size("hidden_size", 1, kMaxSize, 768);
  spec.context = kMostWaveformRows;
  set_layer_norms(config, 1e-5, spec);
  spec.tied_embedding = false;
  require_flag(config, "add_adapter", false);
  require_flag(config, "conv_pos_batch_norm", false);
  WaveformStem stem = read_waveform_stem(config, base);
  stem.feature_norm = config.flag("feat_proj_layer_norm", true);
  stem.position_groups = config.size("num_conv_pos_embedding_groups", 1, kMaxSize, 16);
  stem.position_taps = config.size("num_conv_pos_embeddings", 1, 4096, 128);
  if (spec.width % stem.position_groups != 0)
    config.refuse("hidden_size {} is not a multiple of num_conv_pos_embedding_groups {}", spec.width,
                  stem.position_groups);
  if (!positions) stem.position_taps = 0;
  const bool pre_norm = config.flag("do_stable_layer_norm", false) || !positions;
  const std::string norm = base + "encoder.layer_norm";
  spec.sound = SoundSpec{};
  spec.sound->window = stem.convs[0].taps;
  spec.sound->longest = 10.0f;
  spec.sound->margin = 1.0f;
  for (size_t i = 1; i < stem.convs.size(); ++i) spec.sound->row_stride *= stem.convs[i].stride;
  read_waveform_settings(source, *spec.sound);
  (pre_norm ? spec.names.final_norm : stem.first_norm) = norm;
  spec.head.hidden_before_norm = true;
  const uint32_t width = spec.width;
  spec.stem = [stem, width](TransformerBuilder& builder) {
    return build_waveform_stem(builder, stem, width);
  };
  LayerSpec layer;
  layer.attention = equal_heads(config, width, config.size("num_attention_heads", 1, kMaxSize, 12),
                                "hidden_size", "num_attention_heads");
  layer.ffn = {Ffn::plain, read_activation(config, "hidden_act", "gelu"),
               config.size("intermediate_size", 1, kMaxSize, 3072), true};
  layer.names = wav2vec2_layer_names(base, pre_norm);
  spec.repeat(layer, config.size("num_hidden_layers", 1, kMaxLayers, 12));
  spec.names.ignored = {"masked_spec_embed"};
  read_speech_head(source, config, spec);
  read_unused_wav2vec2_keys(config);
  return spec;
}

void require_no_language_adapters(Config& config) {
  if (config.optional_size("adapter_attn_dim", 1, kMaxSize))
    config.refuse("adapters of languages (adapter_attn_dim) of this model are not supported");
}

namespace {

constexpr float kAdapterEps = 1e-5f;  // of the norms, whatever the config says

/// x += linear_2(relu(linear_1(norm(x)))) behind each layer (MMS), `inner` values wide.
void add_language_adapters(Config& config, uint32_t inner, const std::string& base, TransformerSpec& spec) {
  if (spec.names.final_norm.empty())
    config.refuse("adapter_attn_dim without do_stable_layer_norm is not supported");
  if (spec.norm_eps != kAdapterEps)
    config.refuse("layer_norm_eps {} is not supported beside the adapters' own of {}", spec.norm_eps,
                  kAdapterEps);
  for (LayerSpec& layer : spec.layers) {
    layer.build = [inner, pattern = base + "encoder.layers.{}.adapter_layer."](TransformerBuilder& builder,
                                                                               const LayerSpec& own) {
      builder.layer(own);
      const std::string source = of_layer(pattern, own), label = prefix_of(own) + "adapter.";
      const uint32_t width = builder.x().width;
      const View normed = builder.new_value(width, Unit::token), up = builder.new_value(inner, Unit::token);
      builder.norm(label + "norm", source + "norm", builder.x(), normed);
      builder.linear(label + "up", source + "linear_1", Role::matrix, normed, up, Activation::relu, true);
      BlockInput input{up};
      builder.linears(label, input,
                      {builder.projection("down", source + "linear_2", width, inner, Role::matrix, true)},
                      builder.x(), Activation::none, builder.x());
    };
  }
}

}  // namespace

TransformerSpec read_wav2vec2(const Source& source, Config& config) {
  TransformerSpec spec = read_wav2vec2_like(source, config, true);
  if (const auto inner = config.optional_size("adapter_attn_dim", 1, kMaxSize))
    add_language_adapters(config, *inner, wav2vec2_base(source), spec);
  sum_layers(config, spec);
  return spec;
}

TransformerSpec read_hubert(const Source& source, Config& config) { return read_wav2vec2(source, config); }

}  // namespace mote::convert
