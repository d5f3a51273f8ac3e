// SPDX-License-Identifier: Apache-2.0
//
// GGUF's names of the config keys and tensors of the families that share less with a llama.
#pragma once

#include "converter/readers/gguf_families.h"

namespace mote::convert {

// Gate and up, and q, k and v, are one matrix each, as Hugging Face has them.
inline constexpr TensorRule kPhi3Tensors[] = {{"blk.{}.ffn_norm", "model.layers.{}.post_attention_layernorm"},
                                              {"blk.{}.attn_qkv", "model.layers.{}.self_attn.qkv_proj"},
                                              {"blk.{}.ffn_up", "model.layers.{}.mlp.gate_up_proj"}};
inline constexpr KeyRule kWindowKeys[] = {
    {"attention.key_length", "head_dim", KeyKind::size, Presence::optional},
    {"attention.sliding_window", "sliding_window", KeyKind::size, Presence::optional}};
inline constexpr TensorRule kGlm4Tensors[] = {
    {"blk.{}.post_attention_norm", "model.layers.{}.post_self_attn_layernorm"},
    {"blk.{}.ffn_norm", "model.layers.{}.post_attention_layernorm"},
    {"blk.{}.post_ffw_norm", "model.layers.{}.post_mlp_layernorm"},
    {"blk.{}.ffn_up", "model.layers.{}.mlp.gate_up_proj"}};
inline constexpr TensorRule kExaone4Tensors[] = {
    {"rope_freqs", "rope_freqs"},
    {"blk.{}.post_attention_norm", "model.layers.{}.post_attention_layernorm"},
    {"blk.{}.post_ffw_norm", "model.layers.{}.post_feedforward_layernorm"}};

inline constexpr KeyRule kGptOssKeys[] = {
    {"attention.key_length", "head_dim", KeyKind::size, Presence::optional},
    {"attention.sliding_window", "sliding_window"},
    {"expert_feed_forward_length", "intermediate_size"},
    {"expert_count", "num_local_experts"},
    {"expert_used_count", "num_experts_per_tok"}};
inline constexpr TensorRule kGptOssTensors[] = {
    {"blk.{}.post_attention_norm", "model.layers.{}.post_attention_layernorm"},
    {"blk.{}.attn_post_norm", "model.layers.{}.post_attention_layernorm"},  // older files' name
    {"blk.{}.attn_sinks.weight", "model.layers.{}.self_attn.sinks", true},
    {"blk.{}.ffn_gate_inp", "model.layers.{}.mlp.router"},
    {"blk.{}.ffn_gate_exps", "model.layers.{}.mlp.experts.[].gate_proj"},
    {"blk.{}.ffn_up_exps", "model.layers.{}.mlp.experts.[].up_proj"},
    {"blk.{}.ffn_down_exps", "model.layers.{}.mlp.experts.[].down_proj"}};

inline constexpr KeyRule kStarcoder2Keys[] = {
    {"embedding_length", "hidden_size"},
    {"block_count", "num_hidden_layers"},
    {"feed_forward_length", "intermediate_size"},
    {"context_length", "max_position_embeddings"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads", KeyKind::size, Presence::optional},
    {"attention.layer_norm_epsilon", "norm_epsilon", KeyKind::real},
    {"rope.freq_base", "rope_theta", KeyKind::real, Presence::optional},
    {"attention.sliding_window", "sliding_window", KeyKind::size, Presence::optional}};
inline constexpr TensorRule kStarcoder2Tensors[] = {
    {"token_embd", "model.embed_tokens"},
    {"output_norm", "model.norm"},
    {"output", "lm_head"},
    {"blk.{}.attn_norm", "model.layers.{}.input_layernorm"},
    {"blk.{}.ffn_norm", "model.layers.{}.post_attention_layernorm"},
    {"blk.{}.attn_q", "model.layers.{}.self_attn.q_proj"},
    {"blk.{}.attn_k", "model.layers.{}.self_attn.k_proj"},
    {"blk.{}.attn_v", "model.layers.{}.self_attn.v_proj"},
    {"blk.{}.attn_output", "model.layers.{}.self_attn.o_proj"},
    {"blk.{}.ffn_up", "model.layers.{}.mlp.c_fc"},
    {"blk.{}.ffn_down", "model.layers.{}.mlp.c_proj"}};

inline constexpr KeyRule kLfm2MoeKeys[] = {
    {"embedding_length", "hidden_size"},
    {"block_count", "num_hidden_layers"},
    {"feed_forward_length", "intermediate_size"},
    {"context_length", "max_position_embeddings"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.layer_norm_rms_epsilon", "norm_eps", KeyKind::real},
    {"rope.freq_base", "rope_theta", KeyKind::real, Presence::optional},
    {"shortconv.l_cache", "conv_L_cache"},
    {"expert_count", "num_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"leading_dense_block_count", "num_dense_layers"}};
inline constexpr TensorRule kLfm2ExpertTensors[] = {
    {"blk.{}.ffn_gate_inp", "model.layers.{}.feed_forward.gate"},
    {"blk.{}.exp_probs_b.bias", "model.layers.{}.feed_forward.expert_bias", true},
    {"blk.{}.ffn_gate_exps", "model.layers.{}.feed_forward.experts.[].w1"},
    {"blk.{}.ffn_up_exps", "model.layers.{}.feed_forward.experts.[].w3"},
    {"blk.{}.ffn_down_exps", "model.layers.{}.feed_forward.experts.[].w2"}};

inline constexpr KeyRule kMambaKeys[] = {
    {"embedding_length", "hidden_size"},
    {"block_count", "num_hidden_layers"},
    {"attention.layer_norm_rms_epsilon", "layer_norm_epsilon", KeyKind::real},
    {"ssm.conv_kernel", "conv_kernel"},
    {"ssm.state_size", "state_size"},
    {"ssm.time_step_rank", "time_step_rank"}};
inline constexpr KeyRule kMamba2Keys[] = {
    {"embedding_length", "hidden_size"},
    {"block_count", "num_hidden_layers"},
    {"attention.layer_norm_rms_epsilon", "layer_norm_epsilon", KeyKind::real},
    {"ssm.conv_kernel", "conv_kernel"},
    {"ssm.state_size", "state_size"},
    {"ssm.group_count", "n_groups"},
    {"ssm.time_step_rank", "num_heads"}};
inline constexpr TensorRule kMambaTensors[] = {{"token_embd", "backbone.embeddings"},
                                               {"output_norm", "backbone.norm_f"},
                                               {"output", "lm_head"},
                                               {"blk.{}.attn_norm", "backbone.layers.{}.norm"},
                                               {"blk.{}.ssm_in", "backbone.layers.{}.mixer.in_proj"},
                                               {"blk.{}.ssm_conv1d", "backbone.layers.{}.mixer.conv1d"},
                                               {"blk.{}.ssm_x", "backbone.layers.{}.mixer.x_proj"},
                                               {"blk.{}.ssm_dt", "backbone.layers.{}.mixer.dt_proj"},
                                               {"blk.{}.ssm_a", "backbone.layers.{}.mixer.A", true},
                                               {"blk.{}.ssm_d", "backbone.layers.{}.mixer.D", true},
                                               {"blk.{}.ssm_out", "backbone.layers.{}.mixer.out_proj"}};
inline constexpr TensorRule kMamba2Tensors[] = {
    {"token_embd", "backbone.embeddings"},
    {"output_norm", "backbone.norm_f"},
    {"output", "lm_head"},
    {"blk.{}.attn_norm", "backbone.layers.{}.norm"},
    {"blk.{}.ssm_in", "backbone.layers.{}.mixer.in_proj"},
    {"blk.{}.ssm_conv1d", "backbone.layers.{}.mixer.conv1d"},
    {"blk.{}.ssm_dt.bias", "backbone.layers.{}.mixer.dt_bias", true},
    {"blk.{}.ssm_a", "backbone.layers.{}.mixer.A", true},
    {"blk.{}.ssm_d", "backbone.layers.{}.mixer.D", true},
    {"blk.{}.ssm_norm", "backbone.layers.{}.mixer.norm"},
    {"blk.{}.ssm_out", "backbone.layers.{}.mixer.out_proj"}};

// Beside kScanTensors.
inline constexpr TensorRule kFalconH1Tensors[] = {
    {"output_norm", "model.final_layernorm"},
    {"blk.{}.ffn_norm", "model.layers.{}.pre_ff_layernorm.weight", true},  // without an end
    {"blk.{}.ffn_norm.weight", "model.layers.{}.pre_ff_layernorm.weight", true},
    {"blk.{}.ffn_gate", "model.layers.{}.feed_forward.gate_proj"},
    {"blk.{}.ffn_up", "model.layers.{}.feed_forward.up_proj"},
    {"blk.{}.ffn_down", "model.layers.{}.feed_forward.down_proj"}};

inline constexpr TensorRule kQwen35Tensors[] = {
    {"blk.{}.post_attention_norm", "model.layers.{}.post_attention_layernorm"},
    {"blk.{}.attn_qkv", "model.layers.{}.linear_attn.in_proj_qkv"},
    {"blk.{}.attn_gate", "model.layers.{}.linear_attn.in_proj_z"},
    {"blk.{}.ssm_alpha", "model.layers.{}.linear_attn.in_proj_a"},
    {"blk.{}.ssm_beta", "model.layers.{}.linear_attn.in_proj_b"},
    {"blk.{}.ssm_conv1d", "model.layers.{}.linear_attn.conv1d"},
    {"blk.{}.ssm_dt.bias", "model.layers.{}.linear_attn.dt_bias", true},
    {"blk.{}.ssm_a", "model.layers.{}.linear_attn.A", true},
    {"blk.{}.ssm_norm", "model.layers.{}.linear_attn.norm"},
    {"blk.{}.ssm_out", "model.layers.{}.linear_attn.out_proj"}};

inline constexpr KeyRule kNomicBertKeys[] = {
    {"embedding_length", "hidden_size"},
    {"block_count", "num_hidden_layers"},
    {"feed_forward_length", "intermediate_size"},
    {"context_length", "max_position_embeddings"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.layer_norm_epsilon", "layer_norm_eps", KeyKind::real},
    {"rope.freq_base", "rope_theta", KeyKind::real}};
inline constexpr TensorRule kNomicBertTensors[] = {{"token_embd", "embeddings.word_embeddings"},
                                                   {"token_types", "embeddings.token_type_embeddings"},
                                                   {"token_embd_norm", "emb_ln"},
                                                   {"blk.{}.attn_qkv", "encoder.layers.{}.attn.Wqkv"},
                                                   {"blk.{}.attn_output", "encoder.layers.{}.attn.out_proj"},
                                                   {"blk.{}.attn_output_norm", "encoder.layers.{}.norm1"},
                                                   {"blk.{}.ffn_up", "encoder.layers.{}.mlp.fc11"},
                                                   {"blk.{}.ffn_gate", "encoder.layers.{}.mlp.fc12"},
                                                   {"blk.{}.ffn_down", "encoder.layers.{}.mlp.fc2"},
                                                   {"blk.{}.layer_output_norm", "encoder.layers.{}.norm2"}};

inline constexpr KeyRule kModernBertKeys[] = {
    {"embedding_length", "hidden_size"},
    {"block_count", "num_hidden_layers"},
    {"feed_forward_length", "intermediate_size"},
    {"context_length", "max_position_embeddings"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.layer_norm_epsilon", "norm_eps", KeyKind::real, Presence::optional},
    {"attention.layer_norm_rms_epsilon", "norm_eps", KeyKind::real, Presence::optional},
    {"attention.sliding_window", "local_attention"},
    {"rope.freq_base", "global_rope_theta", KeyKind::real},
    {"rope.freq_base_swa", "local_rope_theta", KeyKind::real}};
inline constexpr TensorRule kModernBertTensors[] = {{"token_embd", "embeddings.tok_embeddings"},
                                                    {"token_embd_norm", "embeddings.norm"},
                                                    {"output_norm", "final_norm"},
                                                    {"blk.{}.attn_norm", "layers.{}.attn_norm"},
                                                    {"blk.{}.attn_qkv", "layers.{}.attn.Wqkv"},
                                                    {"blk.{}.attn_output", "layers.{}.attn.Wo"},
                                                    {"blk.{}.ffn_norm", "layers.{}.mlp_norm"},
                                                    {"blk.{}.ffn_up", "layers.{}.mlp.Wi"},
                                                    {"blk.{}.ffn_down", "layers.{}.mlp.Wo"}};

}  // namespace mote::convert
