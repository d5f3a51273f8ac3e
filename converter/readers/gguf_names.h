// SPDX-License-Identifier: Apache-2.0
//
// GGUF's names of the config keys and tensors of llama and its kin, of LFM2, GPT-2 and BERT.
#pragma once

#include "converter/readers/gguf_families.h"

namespace mote::convert {

// The keys that most decoders have.
inline constexpr KeyRule kCommonKeys[] = {
    {"embedding_length", "hidden_size"},
    {"block_count", "num_hidden_layers"},
    {"feed_forward_length", "intermediate_size"},
    {"context_length", "max_position_embeddings"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads", KeyKind::size, Presence::optional},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", KeyKind::real},
    {"rope.freq_base", "rope_theta", KeyKind::real, Presence::optional}};
inline constexpr TensorRule kCommonTensors[] = {{"token_embd", "model.embed_tokens"},
                                                {"output_norm", "model.norm"},
                                                {"output", "lm_head"},
                                                {"blk.{}.attn_norm", "model.layers.{}.input_layernorm"},
                                                {"blk.{}.attn_q", "model.layers.{}.self_attn.q_proj"},
                                                {"blk.{}.attn_k", "model.layers.{}.self_attn.k_proj"},
                                                {"blk.{}.attn_v", "model.layers.{}.self_attn.v_proj"},
                                                {"blk.{}.attn_output", "model.layers.{}.self_attn.o_proj"},
                                                {"blk.{}.attn_q_norm", "model.layers.{}.self_attn.q_norm"},
                                                {"blk.{}.attn_k_norm", "model.layers.{}.self_attn.k_norm"},
                                                {"blk.{}.ffn_gate", "model.layers.{}.mlp.gate_proj"},
                                                {"blk.{}.ffn_up", "model.layers.{}.mlp.up_proj"},
                                                {"blk.{}.ffn_down", "model.layers.{}.mlp.down_proj"}};

inline constexpr KeyRule kLlamaKeys[] = {
    {"attention.key_length", "head_dim", KeyKind::size, Presence::optional}};
inline constexpr TensorRule kLlamaTensors[] = {
    {"rope_freqs", "rope_freqs"},  // divisors of the inverse frequencies
    {"blk.{}.ffn_norm", "model.layers.{}.post_attention_layernorm"}};

// A llama with experts is a Mixtral, whose experts are as wide as a llama's feed-forward.
inline constexpr KeyRule kMixtralKeys[] = {{"expert_count", "num_local_experts"},
                                           {"expert_used_count", "num_experts_per_tok"}};
inline constexpr TensorRule kMixtralTensors[] = {
    {"blk.{}.ffn_gate_inp", "model.layers.{}.block_sparse_moe.gate"},
    {"blk.{}.ffn_gate_exps", "model.layers.{}.block_sparse_moe.experts.[].w1"},
    {"blk.{}.ffn_up_exps", "model.layers.{}.block_sparse_moe.experts.[].w3"},
    {"blk.{}.ffn_down_exps", "model.layers.{}.block_sparse_moe.experts.[].w2"}};

inline constexpr KeyRule kGraniteKeys[] = {
    {"attention.key_length", "head_dim", KeyKind::size, Presence::optional},
    {"attention.scale", "attention_multiplier", KeyKind::real},
    {"embedding_scale", "embedding_multiplier", KeyKind::real},
    {"residual_scale", "residual_multiplier", KeyKind::real},
    {"logit_scale", "logits_scaling", KeyKind::real}};

// The tensors of layers that scan, whose keys are in gguf.cpp.
inline constexpr TensorRule kScanTensors[] = {{"blk.{}.ssm_in", "model.layers.{}.mamba.in_proj"},
                                              {"blk.{}.ssm_conv1d", "model.layers.{}.mamba.conv1d"},
                                              {"blk.{}.ssm_dt.bias", "model.layers.{}.mamba.dt_bias", true},
                                              {"blk.{}.ssm_a", "model.layers.{}.mamba.A", true},
                                              {"blk.{}.ssm_d", "model.layers.{}.mamba.D", true},
                                              {"blk.{}.ssm_norm", "model.layers.{}.mamba.norm"},
                                              {"blk.{}.ssm_out", "model.layers.{}.mamba.out_proj"}};
inline constexpr TensorRule kGraniteMoeTensors[] = {
    {"blk.{}.ffn_gate_inp", "model.layers.{}.block_sparse_moe.router.layer"},
    {"blk.{}.ffn_gate_exps", "model.layers.{}.block_sparse_moe.experts.[].gate_proj"},
    {"blk.{}.ffn_up_exps", "model.layers.{}.block_sparse_moe.experts.[].up_proj"},
    {"blk.{}.ffn_down_exps", "model.layers.{}.block_sparse_moe.experts.[].down_proj"},
    {"blk.{}.ffn_gate_shexp", "model.layers.{}.mlp.gate_proj"},
    {"blk.{}.ffn_up_shexp", "model.layers.{}.mlp.up_proj"},
    {"blk.{}.ffn_down_shexp", "model.layers.{}.mlp.down_proj"}};

inline constexpr KeyRule kLfm2Keys[] = {{"embedding_length", "hidden_size"},
                                        {"block_count", "num_hidden_layers"},
                                        {"feed_forward_length", "block_ff_dim"},
                                        {"context_length", "max_position_embeddings"},
                                        {"attention.head_count", "num_attention_heads"},
                                        {"attention.layer_norm_rms_epsilon", "norm_eps", KeyKind::real},
                                        {"rope.freq_base", "rope_theta", KeyKind::real, Presence::optional},
                                        {"shortconv.l_cache", "conv_L_cache"}};
inline constexpr TensorRule kLfm2Tensors[] = {
    {"token_embd", "model.embed_tokens"},
    {"token_embd_norm", "model.embedding_norm"},  // older files' name of the next
    {"output_norm", "model.embedding_norm"},
    {"output", "lm_head"},
    {"blk.{}.attn_norm", "model.layers.{}.operator_norm"},
    {"blk.{}.attn_q", "model.layers.{}.self_attn.q_proj"},
    {"blk.{}.attn_k", "model.layers.{}.self_attn.k_proj"},
    {"blk.{}.attn_v", "model.layers.{}.self_attn.v_proj"},
    {"blk.{}.attn_output", "model.layers.{}.self_attn.out_proj"},
    {"blk.{}.attn_q_norm", "model.layers.{}.self_attn.q_layernorm"},
    {"blk.{}.attn_k_norm", "model.layers.{}.self_attn.k_layernorm"},
    {"blk.{}.shortconv.in_proj", "model.layers.{}.conv.in_proj"},
    {"blk.{}.shortconv.out_proj", "model.layers.{}.conv.out_proj"},
    {"blk.{}.shortconv.conv", "model.layers.{}.conv.conv"},
    {"blk.{}.ffn_norm", "model.layers.{}.ffn_norm"},
    {"blk.{}.ffn_gate", "model.layers.{}.feed_forward.w1"},
    {"blk.{}.ffn_up", "model.layers.{}.feed_forward.w3"},
    {"blk.{}.ffn_down", "model.layers.{}.feed_forward.w2"}};

inline constexpr KeyRule kQwenMoeKeys[] = {
    {"expert_count", "num_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size", KeyKind::size,
     Presence::optional}};
inline constexpr TensorRule kQwenMoeTensors[] = {
    {"blk.{}.ffn_gate_inp", "model.layers.{}.mlp.gate"},
    {"blk.{}.ffn_gate_exps", "model.layers.{}.mlp.experts.[].gate_proj"},
    {"blk.{}.ffn_up_exps", "model.layers.{}.mlp.experts.[].up_proj"},
    {"blk.{}.ffn_down_exps", "model.layers.{}.mlp.experts.[].down_proj"},
    {"blk.{}.ffn_gate_inp_shexp", "model.layers.{}.mlp.shared_expert_gate"},
    {"blk.{}.ffn_gate_shexp", "model.layers.{}.mlp.shared_expert.gate_proj"},
    {"blk.{}.ffn_up_shexp", "model.layers.{}.mlp.shared_expert.up_proj"},
    {"blk.{}.ffn_down_shexp", "model.layers.{}.mlp.shared_expert.down_proj"}};

inline constexpr KeyRule kGemmaKeys[] = {
    {"attention.key_length", "head_dim"},
    {"attention.sliding_window", "sliding_window", KeyKind::size, Presence::optional},
    {"attn_logit_softcapping", "attn_logit_softcapping", KeyKind::real, Presence::optional},
    {"final_logit_softcapping", "final_logit_softcapping", KeyKind::real, Presence::optional}};

// Norms on both sides of the branches; their weights have the 1 in them that Hugging Face's Gemma adds.
inline constexpr TensorRule kSandwichTensors[] = {
    {"blk.{}.post_attention_norm", "model.layers.{}.post_attention_layernorm"},
    {"blk.{}.ffn_norm", "model.layers.{}.pre_feedforward_layernorm"},
    {"blk.{}.post_ffw_norm", "model.layers.{}.post_feedforward_layernorm"}};

inline constexpr KeyRule kGpt2Keys[] = {
    {"embedding_length", "n_embd"},
    {"block_count", "n_layer"},
    {"feed_forward_length", "n_inner"},
    {"context_length", "n_positions"},
    {"attention.head_count", "n_head"},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon", KeyKind::real}};

// Matrices are [out, in] here, where Hugging Face's GPT-2 has [in, out].
inline constexpr TensorRule kGpt2Tensors[] = {{"token_embd", "transformer.wte"},
                                              {"position_embd", "transformer.wpe"},
                                              {"output_norm", "transformer.ln_f"},
                                              {"output", "lm_head"},
                                              {"blk.{}.attn_norm", "transformer.h.{}.ln_1"},
                                              {"blk.{}.attn_qkv", "transformer.h.{}.attn.c_attn"},
                                              {"blk.{}.attn_output", "transformer.h.{}.attn.c_proj"},
                                              {"blk.{}.ffn_norm", "transformer.h.{}.ln_2"},
                                              {"blk.{}.ffn_up", "transformer.h.{}.mlp.c_fc"},
                                              {"blk.{}.ffn_down", "transformer.h.{}.mlp.c_proj"}};

inline constexpr KeyRule kBertKeys[] = {{"embedding_length", "hidden_size"},
                                        {"block_count", "num_hidden_layers"},
                                        {"feed_forward_length", "intermediate_size"},
                                        {"context_length", "max_position_embeddings"},
                                        {"attention.head_count", "num_attention_heads"},
                                        {"attention.layer_norm_epsilon", "layer_norm_eps", KeyKind::real}};

inline constexpr TensorRule kBertTensors[] = {
    {"token_embd", "embeddings.word_embeddings"},
    {"token_types", "embeddings.token_type_embeddings"},
    {"position_embd", "embeddings.position_embeddings"},
    {"token_embd_norm", "embeddings.LayerNorm"},
    {"blk.{}.attn_q", "encoder.layer.{}.attention.self.query"},
    {"blk.{}.attn_k", "encoder.layer.{}.attention.self.key"},
    {"blk.{}.attn_v", "encoder.layer.{}.attention.self.value"},
    {"blk.{}.attn_output", "encoder.layer.{}.attention.output.dense"},
    {"blk.{}.attn_output_norm", "encoder.layer.{}.attention.output.LayerNorm"},
    {"blk.{}.ffn_up", "encoder.layer.{}.intermediate.dense"},
    {"blk.{}.ffn_down", "encoder.layer.{}.output.dense"},
    {"blk.{}.layer_output_norm", "encoder.layer.{}.output.LayerNorm"}};

}  // namespace mote::convert
