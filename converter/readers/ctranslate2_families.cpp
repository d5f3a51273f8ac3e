// SPDX-License-Identifier: Apache-2.0
//
// BART and its relatives, T5 and Whisper by the attributes and weights of CTranslate2.
#include <array>
#include <cmath>

#include "converter/readers/ctranslate2_translation.h"

namespace mote::convert {
namespace {

using nlohmann::json;

/// The architecture whose layers have their norms there.
struct Ct2Bart {
  const char* model_type;
  bool pre_norm, embedding_norm, final_norm, learned_positions;
};
constexpr Ct2Bart kCt2Barts[] = {
    {"marian", false, false, false, false},
    {"bart", false, true, false, true},
    {"mbart", true, true, true, true},
    {"m2m_100", true, false, true, false},
};

}  // namespace

void Ct2Translation::translate_bart() {
  require_revision(2, 7);
  set_embedding("model.shared.weight");
  const bool pre_norm = attribute("encoder", "pre_norm", 1.0) != 0;
  if ((attribute("decoder", "pre_norm", 1.0) != 0) != pre_norm)
    variables_.refuse("the sides have their norms at different places");
  const bool embedding_norm = variables_.has("encoder/layernorm_embedding/gamma");
  const bool final_norm = variables_.has("encoder/layer_norm/gamma");
  const auto bart = std::find_if(std::begin(kCt2Barts), std::end(kCt2Barts), [&](const Ct2Bart& one) {
    return one.pre_norm == pre_norm && one.embedding_norm == embedding_norm && one.final_norm == final_norm;
  });
  if (bart == std::end(kCt2Barts)) {
    variables_.refuse(fmt::format(
        "no architecture has norms {} the branches, {}after the embedding and {}at the end",
        pre_norm ? "before" : "behind", embedding_norm ? "" : "none ", final_norm ? "" : "none "));
  }
  config_["model_type"] = bart->model_type;
  for (const std::string side : {"encoder", "decoder"}) {
    config_[side + "_layers"] = layers(side);
    config_[side + "_attention_heads"] = heads(side);
    config_[side + "_ffn_dim"] = rows(side + "/layer_0/ffn/linear_0/weight");
    set_positions(side, bart->learned_positions);
    const double head_dim = config_["d_model"].get<double>() / heads(side);
    check_scales(side, 1.0 / std::sqrt(head_dim));
  }
  config_["activation_function"] = activation("encoder");
  if (activation("decoder") != activation("encoder"))
    variables_.refuse("the sides have different activations");
  if (settings_.contains("layer_norm_epsilon") && settings_["layer_norm_epsilon"] != json(nullptr))
    variables_.refuse("layer_norm_epsilon of layer norms is not read");
  set_scale(false);
  set_tokens();
  ct2_rename(variables_, Ct2Family::bart, source_);
}

void Ct2Translation::translate_t5() {
  require_revision(2, 7);
  set_embedding("shared.weight");
  const std::string first = "encoder/layer_0/self_attention/";
  const auto width = config_["d_model"].get<uint64_t>(), head_rows = rows(first + "linear_0/weight") / 3;
  if (heads("decoder") != heads("encoder")) variables_.refuse("the sides have different numbers of heads");
  config_["num_heads"] = heads("encoder");
  config_["d_kv"] = head_rows / heads("encoder");
  config_["d_ff"] = rows("encoder/layer_0/ffn/linear_0/weight");
  config_["num_layers"] = layers("encoder");
  config_["num_decoder_layers"] = layers("decoder");
  config_["relative_attention_num_buckets"] = rows(first + "relative_attention_bias");
  config_["relative_attention_max_distance"] =
      static_cast<int64_t>(variables_.number(first + "relative_attention_max_distance"));
  const bool gated = variables_.has("encoder/layer_0/ffn/linear_0_noact/weight");
  config_["feed_forward_proj"] = (gated ? "gated-" : "") + activation("encoder");
  config_["dense_act_fn"] = activation("encoder");
  if (activation("decoder") != activation("encoder"))
    variables_.refuse("the sides have different activations");
  if (const auto eps = settings_.find("layer_norm_epsilon"); eps != settings_.end() && !eps->is_null())
    config_["layer_norm_epsilon"] = *eps;
  const double output_scale = variables_.number("decoder/scale_outputs", 1.0);
  config_["scale_decoder_outputs"] = output_scale != 1;
  if (output_scale != 1 && std::abs(output_scale * std::sqrt(static_cast<double>(width)) - 1) > 1e-3)
    variables_.refuse(fmt::format("decoder/scale_outputs is {}", output_scale));
  bool every_layer = false;
  for (const std::string side : {"encoder", "decoder"}) {
    if (attribute(side, "pre_norm", 1.0) == 0) variables_.refuse("pre_norm is 0, T5 has 1");
    check_scales(side, 1.0);
    const std::string table = "self_attention/relative_attention_bias";
    for (uint32_t layer = 0; layer < layers(side); ++layer) {
      const std::string scope = fmt::format("{}/layer_{}/", side, layer);
      source_.tensors[fmt::format("{}.block.{}.layer.0.SelfAttention.relative_attention_bias.weight", side,
                                  layer)] = variables_.tensor(scope + table);
      every_layer |= !variables_.same(scope + table, side + "/layer_0/" + table);
      variables_.number(scope + "self_attention/relative_attention_max_distance", 0.0);
    }
  }
  config_["model_type"] = every_layer ? "umt5" : "t5";
  set_scale(true);
  if (config_["scale_embedding"] == json(true)) variables_.refuse("embeddings are scaled, T5's are not");
  config_.erase("scale_embedding");
  set_tokens();
  ct2_rename(variables_, Ct2Family::t5, source_);
}

void Ct2Translation::translate_whisper() {
  require_revision(1, 3);
  config_["model_type"] = "whisper";
  set_embedding("model.decoder.embed_tokens.weight");
  config_["num_mel_bins"] = dimension("encoder/conv1/weight", 1);
  for (const std::string side : {"encoder", "decoder"}) {
    config_[side + "_layers"] = layers(side);
    config_[side + "_attention_heads"] = heads(side);
    config_[side + "_ffn_dim"] = rows(side + "/layer_0/ffn/linear_0/weight");
    set_positions(side, false);
    if (attribute(side, "pre_norm", 1.0) == 0) variables_.refuse("pre_norm is 0, Whisper has 1");
    check_scales(side, 1.0 / std::sqrt(config_["d_model"].get<double>() / heads(side)));
  }
  if (variables_.has("decoder/activation")) config_["activation_function"] = activation("decoder");
  set_scale(true);
  const auto take_ids = [&](const char* key, const char* name) {
    const auto found = settings_.find(key);
    if (found != settings_.end() && !found->is_null()) config_[name] = *found;
  };
  take_ids("suppress_ids", "suppress_tokens");
  take_ids("suppress_ids_begin", "begin_suppress_tokens");
  const int64_t start = id_of("<|startoftranscript|>"), end = id_of("<|endoftext|>");
  if (start < 0 || end < 0) variables_.refuse("the vocabulary has no <|startoftranscript|> or <|endoftext|>");
  config_["decoder_start_token_id"] = start;
  config_["eos_token_id"] = end;
  source_.stop_ids = {static_cast<int32_t>(end)};
  ct2_rename(variables_, Ct2Family::whisper, source_);
}

}  // namespace mote::convert
