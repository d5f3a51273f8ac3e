// SPDX-License-Identifier: Apache-2.0
//
// Which metadata keys llama.cpp reads of each architecture that is read here. scripts/make_gguf_keys
// wrote this of the llama.cpp of llama-cpp-python 0.3.36.
#include <algorithm>
#include <iterator>
#include <span>

#include "converter/readers/gguf_families.h"

namespace mote::convert {
namespace {

// clang-format off
constexpr std::string_view kReadOfAll[] = {
    "attention.causal",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.key_length_swa",
    "attention.value_length",
    "attention.value_length_swa",
    "block_count",
    "classifier.output_labels",
    "classifier.pooling_type",
    "context_length",
    "embedding_length",
    "embedding_length_out",
    "expert_count",
    "expert_group_count",
    "expert_group_used_count",
    "expert_used_count",
    "feed_forward_length",
    "nextn_predict_layers",
    "pooling_type",
    "rope.dimension_count",
    "rope.dimension_count_swa",
    "rope.freq_base",
    "rope.scale_linear",
    "rope.scaling.alpha",
    "rope.scaling.attn_factor",
    "rope.scaling.factor",
    "rope.scaling.finetuned",
    "rope.scaling.original_context_length",
    "rope.scaling.type",
};

struct ReadKey {
  std::string_view architecture, key;
};

constexpr ReadKey kReadKeys[] = {
    {"llama", "attention.layer_norm_rms_epsilon"},
    {"llama", "vocab_size"},
    {"mistral3", "attention.layer_norm_rms_epsilon"},
    {"mistral3", "attention.temperature_scale"},
    {"mistral3", "rope.scaling.yarn_beta_fast"},
    {"mistral3", "rope.scaling.yarn_beta_slow"},
    {"mistral3", "rope.scaling.yarn_log_multiplier"},
    {"smollm3", "attention.layer_norm_rms_epsilon"},
    {"qwen2", "attention.layer_norm_rms_epsilon"},
    {"qwen3", "attention.layer_norm_rms_epsilon"},
    {"qwen2moe", "attention.layer_norm_rms_epsilon"},
    {"qwen2moe", "expert_feed_forward_length"},
    {"qwen2moe", "expert_shared_feed_forward_length"},
    {"qwen3moe", "attention.layer_norm_rms_epsilon"},
    {"qwen3moe", "expert_feed_forward_length"},
    {"qwen35", "attention.layer_norm_rms_epsilon"},
    {"qwen35", "attention.recurrent_layers"},
    {"qwen35", "full_attention_interval"},
    {"qwen35", "rope.dimension_sections"},
    {"qwen35", "ssm.conv_kernel"},
    {"qwen35", "ssm.group_count"},
    {"qwen35", "ssm.inner_size"},
    {"qwen35", "ssm.state_size"},
    {"qwen35", "ssm.time_step_rank"},
    {"granite", "attention.layer_norm_rms_epsilon"},
    {"granite", "attention.scale"},
    {"granite", "deepstack_mapping"},
    {"granite", "embedding_scale"},
    {"granite", "expert_shared_feed_forward_length"},
    {"granite", "logit_scale"},
    {"granite", "residual_scale"},
    {"granitehybrid", "attention.layer_norm_rms_epsilon"},
    {"granitehybrid", "attention.scale"},
    {"granitehybrid", "embedding_scale"},
    {"granitehybrid", "expert_shared_feed_forward_length"},
    {"granitehybrid", "logit_scale"},
    {"granitehybrid", "residual_scale"},
    {"granitehybrid", "ssm.conv_kernel"},
    {"granitehybrid", "ssm.group_count"},
    {"granitehybrid", "ssm.inner_size"},
    {"granitehybrid", "ssm.state_size"},
    {"granitehybrid", "ssm.time_step_rank"},
    {"lfm2", "attention.layer_norm_rms_epsilon"},
    {"lfm2", "attention.sliding_window"},
    {"lfm2", "shortconv.l_cache"},
    {"lfm2moe", "attention.layer_norm_rms_epsilon"},
    {"lfm2moe", "expert_feed_forward_length"},
    {"lfm2moe", "expert_gating_func"},
    {"lfm2moe", "leading_dense_block_count"},
    {"lfm2moe", "shortconv.l_cache"},
    {"olmo2", "attention.layer_norm_rms_epsilon"},
    {"olmo2", "attention.sliding_window"},
    {"olmo2", "attention.sliding_window_pattern"},
    {"olmo2", "rope.freq_base_swa"},
    {"gemma", "attention.layer_norm_rms_epsilon"},
    {"gemma2", "attention.layer_norm_rms_epsilon"},
    {"gemma2", "attention.sliding_window"},
    {"gemma2", "attention.sliding_window_pattern"},
    {"gemma2", "attn_logit_softcapping"},
    {"gemma2", "final_logit_softcapping"},
    {"gemma2", "rope.freq_base_swa"},
    {"gemma3", "attention.layer_norm_rms_epsilon"},
    {"gemma3", "attention.sliding_window"},
    {"gemma3", "attention.sliding_window_pattern"},
    {"gemma3", "final_logit_softcapping"},
    {"gemma3", "rope.freq_base_swa"},
    {"gemma-embedding", "attention.layer_norm_rms_epsilon"},
    {"gemma-embedding", "attention.sliding_window"},
    {"gemma-embedding", "attention.sliding_window_pattern"},
    {"gemma-embedding", "dense_2_feat_in"},
    {"gemma-embedding", "dense_2_feat_out"},
    {"gemma-embedding", "dense_3_feat_in"},
    {"gemma-embedding", "dense_3_feat_out"},
    {"gemma-embedding", "rope.freq_base_swa"},
    {"phi3", "attention.layer_norm_rms_epsilon"},
    {"phi3", "attention.sliding_window"},
    {"exaone4", "attention.layer_norm_rms_epsilon"},
    {"exaone4", "attention.sliding_window"},
    {"exaone4", "attention.sliding_window_pattern"},
    {"exaone4", "rope.freq_base_swa"},
    {"glm4", "attention.layer_norm_rms_epsilon"},
    {"glm4", "rope.dimension_sections"},
    {"gpt-oss", "attention.layer_norm_rms_epsilon"},
    {"gpt-oss", "attention.sliding_window"},
    {"gpt-oss", "attention.sliding_window_pattern"},
    {"gpt-oss", "expert_feed_forward_length"},
    {"gpt-oss", "rope.freq_base_swa"},
    {"starcoder2", "attention.layer_norm_epsilon"},
    {"mamba", "attention.layer_norm_rms_epsilon"},
    {"mamba", "ssm.conv_kernel"},
    {"mamba", "ssm.dt_b_c_rms"},
    {"mamba", "ssm.inner_size"},
    {"mamba", "ssm.state_size"},
    {"mamba", "ssm.time_step_rank"},
    {"mamba2", "attention.layer_norm_rms_epsilon"},
    {"mamba2", "ssm.conv_kernel"},
    {"mamba2", "ssm.group_count"},
    {"mamba2", "ssm.inner_size"},
    {"mamba2", "ssm.state_size"},
    {"mamba2", "ssm.time_step_rank"},
    {"falcon-h1", "attention.layer_norm_rms_epsilon"},
    {"falcon-h1", "ssm.conv_kernel"},
    {"falcon-h1", "ssm.group_count"},
    {"falcon-h1", "ssm.inner_size"},
    {"falcon-h1", "ssm.state_size"},
    {"falcon-h1", "ssm.time_step_rank"},
    {"gpt2", "attention.layer_norm_epsilon"},
    {"bert", "attention.layer_norm_epsilon"},
    {"nomic-bert", "attention.layer_norm_epsilon"},
    {"modern-bert", "attention.layer_norm_epsilon"},
    {"modern-bert", "attention.sliding_window"},
    {"modern-bert", "attention.sliding_window_pattern"},
    {"modern-bert", "hidden_activation"},
    {"modern-bert", "rope.freq_base_swa"},
};
// clang-format on

}  // namespace

bool llama_cpp_reads(std::string_view architecture, std::string_view key) {
  return std::find(std::begin(kReadOfAll), std::end(kReadOfAll), key) != std::end(kReadOfAll) ||
         std::any_of(std::begin(kReadKeys), std::end(kReadKeys), [&](const ReadKey& read) {
           return read.architecture == architecture && read.key == key;
         });
}

}  // namespace mote::convert
