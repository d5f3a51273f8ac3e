// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "converter/readers/gguf_file.h"
#include "converter/readers/readers.h"
#include "converter/tokenizers/tokenizer_spec.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::testing;

namespace {

GgufBuilder keys_of(const std::string& architecture) {
  GgufBuilder builder;
  builder.key("general.architecture", architecture.c_str());
  builder.key(architecture + ".embedding_length", 8u).key(architecture + ".block_count", 1u);
  builder.key(architecture + ".feed_forward_length", 12u).key(architecture + ".context_length", 64u);
  builder.key(architecture + ".attention.head_count", 2u);
  if (architecture == "gpt2") {
    builder.key("gpt2.attention.layer_norm_epsilon", 1e-5f);
  } else {
    builder.key(architecture + ".attention.layer_norm_rms_epsilon", 1e-5f);
  }
  return builder;
}

GgufBuilder llama() { return keys_of("llama").key("llama.attention.head_count_kv", 1u); }

GgufBuilder bert(bool causal) {
  GgufBuilder builder;
  builder.key("general.architecture", "bert").key("bert.embedding_length", 8u).key("bert.block_count", 1u);
  builder.key("bert.feed_forward_length", 12u).key("bert.context_length", 16u);
  builder.key("bert.attention.head_count", 2u).key("bert.attention.layer_norm_epsilon", 1e-12f);
  builder.key("bert.attention.causal", causal);
  return builder;
}

std::vector<float> counted(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  return values;
}

/// Granite's multipliers.
void add_scales(GgufBuilder& builder, const std::string& prefix) {
  for (const char* scale : {"attention.scale", "embedding_scale", "residual_scale", "logit_scale"})
    builder.key(prefix + scale, 0.5f);
}

/// The value of a list of whole numbers.
std::string list_of(const std::vector<uint32_t>& numbers) {
  std::string list = raw(uint32_t{5}) + raw(uint64_t{numbers.size()});
  for (const uint32_t number : numbers) list += raw(number);
  return list;
}

Source read(const std::string& file) { return read_gguf(as_bytes(file), "dir/m.gguf"); }

std::string error_of(const std::string& file) {
  return message_of<Error>([&] { read(file); });
}
std::string error_of(const GgufBuilder& builder) { return error_of(builder.bytes()); }

}  // namespace

TEST("gguf: metadata of a llama becomes the keys of config.json") {
  auto builder = llama().key("general.name", "Tiny").key("llama.rope.freq_base", 5e5f);
  builder.key("llama.rope.dimension_count", 4u).key("llama.expert_count", 0u).key("llama.vocab_size", 100u);
  builder.key("tokenizer.ggml.bos_token_id", 1u).key("tokenizer.ggml.eos_token_id", 2u);
  builder.key("tokenizer.ggml.eot_token_id", 9u).key("tokenizer.ggml.eom_token_id", ~0u);
  const std::string file = builder.bytes();
  const Source source = read(file);
  TEST_ASSERT_EQUAL_STRING("Tiny", source.name);
  const nlohmann::json expected = {
      {"model_type", "llama"},    {"hidden_act", "silu"},     {"hidden_size", 8},
      {"num_hidden_layers", 1},   {"intermediate_size", 12},  {"max_position_embeddings", 64},
      {"num_attention_heads", 2}, {"num_key_value_heads", 1}, {"rms_norm_eps", double{1e-5f}},
      {"rope_theta", 5e5},        {"vocab_size", 100},        {"tie_word_embeddings", true},
      {"bos_token_id", 1},        {"eos_token_id", 2},        {"head_dim", 4}};
  TEST_ASSERT_EQUAL_STRING(expected.dump(), source.config->dump());
  TEST_ASSERT_TRUE(source.stop_ids == std::vector<int32_t>({2, 9}));
}

TEST("gguf: tensors get Hugging Face's names, shapes outermost first, q and k interleaved in llama only") {
  for (const std::string architecture : {"llama", "qwen2", "qwen3"}) {
    CAPTURE(architecture);
    auto builder = keys_of(architecture).key(architecture + ".attention.head_count_kv", 1u);
    builder.matrix("token_embd.weight", 3, 8, counted(24)).matrix("output.weight", 3, 8, counted(24));
    builder.matrix("blk.0.attn_q.weight", 8, 8, counted(64)).matrix("blk.0.attn_k.weight", 4, 8, counted(32));
    builder.vector("blk.0.attn_q.bias", counted(8)).matrix("blk.0.attn_v.weight", 4, 8, counted(32));
    builder.vector("blk.0.attn_q_norm.weight", counted(4)).vector("rope_freqs.weight", counted(2));
    const std::string file = builder.bytes();
    const Source source = read(file);
    TEST_ASSERT_EQUAL_UINT64(8, source.tensors.size());
    TEST_ASSERT_TRUE(source.tensors.at("model.embed_tokens.weight").shape == std::vector<uint64_t>({3, 8}));
    TEST_ASSERT_EQUAL_INT(3, source.config->at("vocab_size").get<int>());
    TEST_ASSERT_FALSE(source.config->at("tie_word_embeddings").get<bool>());
    TEST_ASSERT_TRUE(source.tensors.count("model.layers.0.self_attn.q_norm.weight") == 1);
    TEST_ASSERT_TRUE(source.tensors.count("rope_freqs.weight") == 1);
    const bool is_llama = architecture == "llama";
    const auto heads = [&](const char* name) { return source.tensors.at(name).interleaved_heads; };
    TEST_ASSERT_EQUAL_INT(is_llama ? 2 : 0, heads("model.layers.0.self_attn.q_proj.weight"));
    TEST_ASSERT_EQUAL_INT(is_llama ? 2 : 0, heads("model.layers.0.self_attn.q_proj.bias"));
    TEST_ASSERT_EQUAL_INT(is_llama ? 1 : 0, heads("model.layers.0.self_attn.k_proj.weight"));
    TEST_ASSERT_EQUAL_INT(0, heads("model.layers.0.self_attn.v_proj.weight"));
    std::vector<float> row(8);
    read_row(source.tensors.at("model.layers.0.self_attn.q_proj.weight"), 1, row);
    TEST_ASSERT_TRUE(row[0] == (is_llama ? 16 : 8));
  }
}

TEST("gguf: a llama with experts is a Mixtral, whose stacked matrices come apart") {
  auto builder = llama().key("llama.expert_count", 2u).key("llama.expert_used_count", 1u);
  builder.matrix("blk.0.ffn_gate_inp.weight", 2, 8, counted(16));
  const std::string whole = builder.stack("blk.0.ffn_down_exps.weight", 2, 8, 12, counted(192)).bytes();
  const Source source = read(whole);
  const nlohmann::json& config = *source.config;
  TEST_ASSERT_EQUAL_STRING("mixtral", config.at("model_type").get<std::string>());
  TEST_ASSERT_EQUAL_INT(2, config.at("num_local_experts").get<int>());
  TEST_ASSERT_EQUAL_INT(1, config.at("num_experts_per_tok").get<int>());
  TEST_ASSERT_TRUE(source.tensors.count("model.layers.0.block_sparse_moe.gate.weight") == 1);
  const SourceTensor& second = source.tensors.at("model.layers.0.block_sparse_moe.experts.1.w2.weight");
  TEST_ASSERT_TRUE(second.shape == std::vector<uint64_t>({8, 12}));
  std::vector<float> row(12);
  read_row(second, 1, row);
  TEST_ASSERT_EQUAL_FLOAT(96.0f + 12.0f, row[0]);

  TEST_ASSERT_NOT_NULL(std::strstr(error_of(llama().key("llama.expert_count", 2u)).c_str(),
                                   "no metadata key llama.expert_used_count"));
  builder = llama().key("llama.expert_count", 2u).key("llama.expert_used_count", 1u);
  builder.matrix("blk.0.ffn_up_exps.weight", 12, 8, counted(96));
  TEST_ASSERT_NOT_NULL(
      std::strstr(error_of(builder).c_str(), "is no matrix for each of at most 1024 experts"));
}

TEST("gguf: mixtures of Qwen have keys of their own, the third's weights are normalized") {
  for (const std::string architecture : {"qwen2moe", "qwen3moe"}) {
    CAPTURE(architecture);
    auto builder = keys_of(architecture).key(architecture + ".expert_count", 4u);
    builder.key(architecture + ".expert_used_count", 2u)
        .key(architecture + ".expert_feed_forward_length", 6u);
    builder.vector("blk.0.ffn_gate_inp_shexp.weight", counted(8));
    const std::string file = builder.bytes();
    const Source source = read(file);
    const nlohmann::json& config = *source.config;
    TEST_ASSERT_EQUAL_INT(4, config.at("num_experts").get<int>());
    TEST_ASSERT_EQUAL_INT(6, config.at("moe_intermediate_size").get<int>());
    TEST_ASSERT_EQUAL(architecture == "qwen3moe", config.contains("norm_topk_prob"));
    TEST_ASSERT_TRUE(source.tensors.at("model.layers.0.mlp.shared_expert_gate.weight").shape ==
                     std::vector<uint64_t>({1, 8}));
  }
}

TEST("gguf: lfm2 has short convolutions where a layer has no heads of keys") {
  const auto lfm2 = [](std::vector<uint32_t> heads) {
    GgufBuilder builder;
    builder.key("general.architecture", "lfm2").key("lfm2.embedding_length", 8u).key("lfm2.block_count", 3u);
    builder.key("lfm2.feed_forward_length", 12u).key("lfm2.context_length", 64u);
    builder.key("lfm2.attention.head_count", 2u).key("lfm2.attention.layer_norm_rms_epsilon", 1e-5f);
    return builder.key("lfm2.attention.head_count_kv", 9, list_of(heads)).key("lfm2.shortconv.l_cache", 3u);
  };
  const std::string file = lfm2({0, 1, 0}).matrix("blk.0.shortconv.conv.weight", 8, 3, counted(24)).bytes();
  const Source source = read(file);
  const nlohmann::json& config = *source.config;
  TEST_ASSERT_EQUAL_STRING(R"(["conv","full_attention","conv"])", config.at("layer_types").dump());
  TEST_ASSERT_EQUAL_INT(1, config.at("num_key_value_heads").get<int>());
  TEST_ASSERT_EQUAL_INT(12, config.at("block_ff_dim").get<int>());
  TEST_ASSERT_FALSE(config.at("block_auto_adjust_ff_dim").get<bool>());
  TEST_ASSERT_FALSE(config.contains("hidden_act"));
  TEST_ASSERT_TRUE(source.tensors.count("model.layers.0.conv.conv.weight") == 1);
  TEST_ASSERT_NOT_NULL(std::strstr(error_of(lfm2({0, 1})).c_str(), "no whole number for each of 3 layers"));
  TEST_ASSERT_NOT_NULL(std::strstr(error_of(lfm2({0, 0, 0})).c_str(), "no layer has attention"));
  TEST_ASSERT_NOT_NULL(std::strstr(error_of(lfm2({0, 1, 2})).c_str(), "layers have 1 and 2 heads of keys"));
}

TEST("gguf: granite's multipliers must be there") {
  const auto granite =
      keys_of("granite").key("granite.attention.scale", 0.5f).key("granite.embedding_scale", 6.0f);
  TEST_ASSERT_NOT_NULL(std::strstr(error_of(granite).c_str(), "no metadata key granite.residual_scale"));
  auto whole = granite;
  const std::string file =
      whole.key("granite.residual_scale", 0.25f).key("granite.logit_scale", 2.0f).bytes();
  const Source source = read(file);
  TEST_ASSERT_EQUAL_FLOAT(0.5f, source.config->at("attention_multiplier").get<float>());
  TEST_ASSERT_EQUAL_FLOAT(0.25f, source.config->at("residual_multiplier").get<float>());
  TEST_ASSERT_EQUAL_FLOAT(2.0f, source.config->at("logits_scaling").get<float>());
}

TEST("gguf: granitehybrid scans where a layer has no heads of keys, with or without a mixture of experts") {
  const auto hybrid = [](std::vector<uint32_t> heads, uint32_t inner) {
    GgufBuilder builder =
        keys_of("granitehybrid").key("granitehybrid.attention.head_count_kv", 9, list_of(heads));
    add_scales(builder, "granitehybrid.");
    builder.key("granitehybrid.ssm.conv_kernel", 4u).key("granitehybrid.ssm.state_size", 6u);
    builder.key("granitehybrid.ssm.group_count", 1u).key("granitehybrid.ssm.time_step_rank", 4u);
    return builder.key("granitehybrid.ssm.inner_size", inner)
        .key("granitehybrid.rope.scaling.finetuned", false);
  };
  GgufBuilder dense = hybrid({1}, 16);
  dense.matrix("blk.0.ssm_a", 4, 1, counted(4)).vector("blk.0.ssm_dt.bias", counted(4));
  dense.matrix("blk.0.ssm_norm.weight", 2, 8, counted(16)).vector("blk.0.ssm_conv1d.bias", counted(4));
  const std::string file = dense.bytes();
  const Source source = read(file);
  const nlohmann::json& config = *source.config;
  TEST_ASSERT_EQUAL_STRING("granitemoehybrid", config.at("model_type").get<std::string>());
  TEST_ASSERT_EQUAL_STRING(R"(["attention"])", config.at("layer_types").dump());
  TEST_ASSERT_EQUAL_INT(4, config.at("mamba_d_head").get<int>());
  TEST_ASSERT_EQUAL_INT(2, config.at("mamba_expand").get<int>());
  TEST_ASSERT_EQUAL_INT(12, config.at("shared_intermediate_size").get<int>());
  TEST_ASSERT_EQUAL_INT(0, config.at("num_local_experts").get<int>());
  TEST_ASSERT_EQUAL_STRING("nope", config.at("position_embedding_type").get<std::string>());
  TEST_ASSERT_TRUE(config.at("mamba_conv_bias").get<bool>());
  const auto shape = [&](const char* name) {
    return source.tensors.at("model.layers.0.mamba." + std::string(name)).shape;
  };
  TEST_ASSERT_TRUE(shape("A") == std::vector<uint64_t>({4}));
  TEST_ASSERT_TRUE(shape("dt_bias") == std::vector<uint64_t>({4}));
  TEST_ASSERT_TRUE(shape("norm.weight") == std::vector<uint64_t>({16}));

  GgufBuilder mixture = hybrid({1}, 16).key("granitehybrid.expert_count", 2u);
  mixture.key("granitehybrid.expert_used_count", 1u)
      .key("granitehybrid.expert_shared_feed_forward_length", 20u);
  const std::string mixed = mixture.stack("blk.0.ffn_up_exps.weight", 2, 12, 8, counted(192)).bytes();
  const Source experts = read(mixed);
  TEST_ASSERT_EQUAL_INT(20, experts.config->at("shared_intermediate_size").get<int>());
  TEST_ASSERT_EQUAL_INT(
      1, static_cast<int>(experts.tensors.count("model.layers.0.block_sparse_moe.experts.1.up_proj.weight")));
  TEST_ASSERT_NOT_NULL(std::strstr(error_of(hybrid({1}, 18)).c_str(), "ssm.inner_size 18 is no multiple"));
  GgufBuilder unknown = hybrid({1}, 16);
  TEST_ASSERT_NOT_NULL(std::strstr(error_of(unknown.vector("blk.0.attn_q", counted(4))).c_str(), "no place"));
}

TEST("gguf: a granite without RoPE is refused") {
  GgufBuilder builder = keys_of("granite").key("granite.rope.scaling.finetuned", false);
  add_scales(builder, "granite.");
  TEST_ASSERT_NOT_NULL(std::strstr(error_of(builder).c_str(), "a granite without RoPE is not read"));
}

TEST("gguf: gemma has norms on both sides, and a scale that follows from its size") {
  for (const std::string architecture : {"gemma2", "gemma3"}) {
    CAPTURE(architecture);
    auto builder = keys_of(architecture).key(architecture + ".attention.key_length", 4u);
    builder.key(architecture + ".attention.sliding_window", 7u);
    builder.vector("blk.0.ffn_norm.weight", counted(8)).vector("blk.0.post_ffw_norm.weight", counted(8));
    builder.vector("blk.0.post_attention_norm.weight", counted(8));
    const std::string file = builder.bytes();
    const Source source = read(file);
    const nlohmann::json& config = *source.config;
    TEST_ASSERT_EQUAL_STRING(architecture == "gemma3" ? "gemma3_text" : "gemma2",
                             config.at("model_type").get<std::string>());
    TEST_ASSERT_EQUAL_INT(4, config.at("query_pre_attn_scalar").get<int>());
    TEST_ASSERT_EQUAL_INT(7, config.at("sliding_window").get<int>());
    for (const char* norm : {"pre_feedforward", "post_feedforward", "post_attention"})
      TEST_ASSERT_EQUAL_UINT64(1,
                               source.tensors.count(fmt::format("model.layers.0.{}_layernorm.weight", norm)));
  }
}

TEST("gguf: gpt2 has keys and names of its own") {
  auto builder = keys_of("gpt2");
  builder.matrix("token_embd.weight", 3, 8, counted(24)).matrix("position_embd.weight", 64, 8, counted(512));
  builder.matrix("blk.0.attn_qkv.weight", 24, 8, counted(192)).vector("blk.0.attn_qkv.bias", counted(24));
  const std::string file = builder.bytes();
  const Source source = read(file);
  TEST_ASSERT_EQUAL_INT(12, source.config->at("n_inner").get<int>());
  TEST_ASSERT_EQUAL_INT(64, source.config->at("n_positions").get<int>());
  TEST_ASSERT_EQUAL_STRING("gelu_new", source.config->at("activation_function").get<std::string>());
  TEST_ASSERT_TRUE(source.tensors.at("transformer.h.0.attn.c_attn.weight").shape ==
                   std::vector<uint64_t>({24, 8}));
  TEST_ASSERT_TRUE(source.tensors.count("transformer.wpe.weight") == 1);
}

TEST("gguf: a list of equal numbers, one for each layer, is that number") {
  const std::string list = raw(5u) + raw(uint64_t{3}) + raw(1u) + raw(1u) + raw(1u);
  const Source source = read(keys_of("llama").key("llama.attention.head_count_kv", 9, list).bytes());
  TEST_ASSERT_EQUAL_INT(1, source.config->at("num_key_value_heads").get<int>());
}

TEST("gguf: BERT has keys and names of its own, and says how it is pooled") {
  auto builder = bert(false).key("bert.pooling_type", 2u);
  builder.matrix("token_embd.weight", 20, 8, counted(160)).matrix("token_types.weight", 2, 8, counted(16));
  builder.matrix("blk.0.attn_q.weight", 8, 8, counted(64)).vector("blk.0.layer_output_norm.bias", counted(8));
  const std::string file = builder.bytes();
  const Source source = read(file);
  TEST_ASSERT_EQUAL_STRING("bert", source.config->at("model_type").get<std::string>());
  TEST_ASSERT_EQUAL_INT(16, source.config->at("max_position_embeddings").get<int>());
  TEST_ASSERT_EQUAL_INT(2, source.config->at("type_vocab_size").get<int>());
  TEST_ASSERT_TRUE(source.pooling.has_value() && source.pooling->kind == mote::PoolKind::first);
  TEST_ASSERT_TRUE(source.tensors.count("encoder.layer.0.attention.self.query.weight") == 1);
  TEST_ASSERT_TRUE(source.tensors.count("encoder.layer.0.output.LayerNorm.bias") == 1);
  TEST_ASSERT_EQUAL_UINT32(
      0, source.tensors.at("encoder.layer.0.attention.self.query.weight").interleaved_heads);
}

TEST("gguf: the parts of a split file are read together from any of them") {
  const TempDirectory directory;
  const auto part = [&](uint32_t number, uint32_t count, const char* tensor) {
    auto builder = number == 0 ? llama() : GgufBuilder();
    builder.key("split.no", number).key("split.count", count).key("split.tensors.count", count);
    return builder.vector(tensor, counted(8)).bytes();
  };
  const char* names[] = {"m-00001-of-00003.gguf", "m-00002-of-00003.gguf", "m-00003-of-00003.gguf"};
  const char* tensors[] = {"output_norm.weight", "blk.0.attn_norm.weight", "blk.0.ffn_norm.weight"};
  for (uint32_t i = 0; i < 3; ++i) write_text(directory / names[i], part(i, 3, tensors[i]));
  const auto error = [&](const char* name) {
    return message_of<Error>([&] { read_source(directory / name); });
  };
  for (const char* name : names) {
    const Source source = read_source(directory / name);
    TEST_ASSERT_EQUAL_UINT64(3, source.tensors.size());
    TEST_ASSERT_EQUAL_UINT64(3, source.files.size());
    TEST_ASSERT_EQUAL_STRING("m", source.name);
    TEST_ASSERT_EQUAL_STRING("m-00001-of-00003.gguf", source.files.front()->path().filename().string());
  }
  write_text(directory / names[2], part(2, 3, tensors[1]));
  TEST_ASSERT_TRUE(contains(error(names[0]), "another part has tensor blk.0.attn_norm.weight"));
  write_text(directory / names[2], part(1, 3, tensors[2]));
  TEST_ASSERT_TRUE(contains(error(names[0]), "is not part 3 of 3"));
  std::filesystem::remove(directory / names[2]);
  TEST_ASSERT_TRUE(contains(error(names[1]), "m-00003-of-00003.gguf is missing"));
  auto last = llama().key("split.no", 11, raw(int64_t{INT64_MAX})).key("split.count", uint32_t{2});
  write_text(directory / "last.gguf", last.bytes());
  TEST_ASSERT_TRUE(contains(error("last.gguf"), "says that it is part 9223372036854775807 of 2"));
  write_text(directory / "other.gguf", part(0, 3, tensors[0]));
  TEST_ASSERT_TRUE(contains(error("other.gguf"), "does not end in -00001-of-00003.gguf"));
}

TEST("gguf: RoPE scaling, head width and sliding window are passed on") {
  const auto config = [](const GgufBuilder& builder) { return *read(builder.bytes()).config; };
  const auto linear = config(llama().key("llama.rope.scaling.factor", 4.0f));
  TEST_ASSERT_EQUAL_STRING(R"({"factor":4.0,"rope_type":"linear"})", linear["rope_scaling"].dump());
  auto yarn = llama().key("llama.rope.scaling.type", "yarn").key("llama.rope.scaling.factor", 4.0f);
  yarn.key("llama.rope.scaling.original_context_length", 32u).key("llama.rope.scaling.finetuned", true);
  TEST_ASSERT_EQUAL_STRING(R"({"factor":4.0,"original_max_position_embeddings":32,"rope_type":"yarn"})",
                           config(yarn)["rope_scaling"].dump());
  yarn.key("llama.rope.scaling.attn_factor", 0.5f);
  const double attention = config(yarn)["rope_scaling"]["attention_factor"].get<double>();
  TEST_ASSERT_TRUE(std::abs(attention - 0.5 * (1 + 0.1 * std::log(4.0))) < 1e-12);
  TEST_ASSERT_FALSE(config(llama().key("llama.rope.scaling.factor", 1.0f)).contains("rope_scaling"));
  TEST_ASSERT_FALSE(config(llama().key("llama.rope.scaling.type", "none")).contains("rope_scaling"));

  const auto wide =
      config(llama().key("llama.attention.key_length", 16u).key("llama.attention.value_length", 16u));
  TEST_ASSERT_EQUAL_INT(16, wide["head_dim"].get<int>());
  TEST_ASSERT_TRUE(
      config(llama().key("llama.rope.dimension_count", 2u))["partial_rotary_factor"].get<double>() == 0.5);
  const auto mistral = config(llama().key("llama.attention.sliding_window", 32u));
  TEST_ASSERT_EQUAL_STRING("mistral", mistral["model_type"].get<std::string>());
  TEST_ASSERT_EQUAL_INT(32, mistral["sliding_window"].get<int>());
}

TEST("gguf: what would change the results and is not understood is refused by name") {
  const struct {
    GgufBuilder builder;
    const char* message;
  } cases[] = {
      {keys_of("qwen2").key("qwen2.expert_count", 8u), "qwen2.expert_count is not understood"},
      {llama().key("llama.attention.causal", false), "llama.attention.causal is not understood"},
      {llama().key("llama.rope.scaling.type", "longrope"), "'longrope' is not understood"},
      {llama().key("llama.rope.scaling.attn_factor", 2.0f), "attn_factor without"},
      {llama().key("llama.attention.value_length", 2u), "value_length differs"},
      {llama().vector("blk.0.ffn_gate_inp.weight", counted(8)),
       "tensor blk.0.ffn_gate_inp.weight has no place"},
      {llama().vector("blk.1.attn_norm.weight", counted(8)), "tensor blk.1.attn_norm.weight has no place"},
      {llama().vector("blk.00.attn_norm.weight", counted(8)), "has no place"},
      {llama().vector("blk.0.attn_norm.scale", counted(8)), "has no place"},
      {llama().vector("output_norm", counted(8)), "has no place"},
      {llama().matrix("blk.0.attn_k.weight", 3, 8, counted(24)), "does not divide into 1 heads"},
      {keys_of("rwkv9000"), "architecture 'rwkv9000' is not read from GGUF; read are llama, mistral3"},
      {GgufBuilder(), "no general.architecture"},
      {llama().key("general.type", "adapter"), "holds a 'adapter'"},
      {llama().key("split.count", 2u), "one of 2 parts"},
      {keys_of("rwkv7"), "architecture 'rwkv7' is not read"},
      {GgufBuilder().key("general.architecture", "llama"), "no metadata key llama.embedding_length"},
      {keys_of("llama").key("llama.attention.head_count_kv", 9,
                            raw(4u) + raw(uint64_t{2}) + raw(1u) + raw(2u)),
       "not one finite number"},
      {bert(true), "bert.attention.causal is not false"},
      {bert(false).key("bert.pooling_type", 4u), "pooling_type 4 is not read"},
      {llama().key("llama.rope.freq_base", std::numeric_limits<float>::quiet_NaN()), "not one finite number"},
      {llama().key("llama.attention.key_length", 0u), "2 heads in a width of 8"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.message);
    TEST_ASSERT_TRUE(contains(error_of(c.builder), c.message));
  }
}

TEST("gguf: a damaged container is refused by what is wrong") {
  auto old = llama();
  old.version = 1;
  TEST_ASSERT_TRUE(contains(error_of(old), "GGUF version 1 is not read"));
  old.version = 0x03000000;
  TEST_ASSERT_TRUE(contains(error_of(old), "version 3 is not read in big-endian"));
  const std::string huge_counts = "GGUF" + raw(3u) + raw(uint64_t{1} << 40) + raw(uint64_t{1} << 40);
  TEST_ASSERT_TRUE(contains(error_of(huge_counts), "do not fit the file"));
  TEST_ASSERT_TRUE(contains(error_of("GGUF" + raw(3u) + raw(uint64_t{0}) + raw(uint64_t{1}) +
                                     raw(~uint64_t{0}) + std::string(20, 'x')),
                            "are left: the file is cut"));
  std::string nested;
  for (int i = 0; i < 5; ++i) nested += raw(9u) + raw(uint64_t{1});
  const struct {
    GgufBuilder builder;
    const char* message;
  } cases[] = {
      {llama().key("a", 1u).key("a", 1u), "'a' occurs twice"},
      {llama().key("a", 13, ""), "unknown metadata type 13"},
      {llama().key("a", 9, raw(13u) + raw(uint64_t{0})), "unknown array type 13"},
      {llama().key("a", 9, raw(4u) + raw(uint64_t{1} << 62)), "array elements do not fit"},
      {llama().key("a", 9, nested + std::string(100, '\0')), "nested deeper than 4"},
      {llama().key("general.alignment", 24u), "power of two"},
      {llama().key("general.alignment", 0u), "power of two"},
      {llama().tensor_at("t", {}, 0, 0), "has 0 dimensions"},
      {llama().tensor_at("t", {1, 1, 1, 1, 1}, 0, 0), "has 5 dimensions"},
      {llama().tensor_at("t", {8, 0}, 0, 0), "impossible shape"},
      {llama().tensor_at("t", {uint64_t{1} << 40, uint64_t{1} << 40}, 0, 0), "impossible shape"},
      {llama().tensor_at("t", {uint64_t{1} << 62}, 0, 0), "impossible shape"},
      {llama().tensor_at("t", {31}, 8, 0), "blocks of 32"},
      {llama().tensor_at("t", {8}, 99, 0), "unknown ggml type 99"},
      {llama().tensor_at("t", {256}, 16, 0), "type IQ2_XXS, which is not read"},
      {llama().tensor_at("t", {8}, 0, 8), "not a multiple of 32"},
      {llama().tensor_at("t", {8}, 0, 1024), "needs 32 bytes at offset 1024"},
      {llama().tensor_at("t", {1 << 30}, 0, 0), "the file is cut"},
      {llama().vector("t", counted(8)).vector("t", counted(8)), "occurs twice"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.message);
    TEST_ASSERT_TRUE(contains(error_of(c.builder), c.message));
  }
}

TEST("gguf: an alignment of its own and version 2 are read") {
  GgufBuilder builder = llama().key("general.alignment", 64u);
  builder.version = 2;
  builder.alignment = 64;
  builder.vector("output_norm.weight", counted(8)).vector("blk.0.ffn_norm.weight", {9, 8, 7, 6, 5, 4, 3, 2});
  const std::string file = builder.bytes();
  const Source source = read(file);
  std::vector<float> row(8);
  read_row(source.tensors.at("model.layers.0.post_attention_layernorm.weight"), 0, row);
  TEST_ASSERT_TRUE(row == std::vector<float>({9, 8, 7, 6, 5, 4, 3, 2}));
}

TEST("gguf: a model made without a vocabulary has no tokenizer") {
  for (const char* name : {"no_vocab", "none"}) {
    const std::string file = llama().key("tokenizer.ggml.model", name).bytes();
    CAPTURE(name);
    TEST_ASSERT_FALSE(read_gguf_tokenizer(as_bytes(file), "m").has_value());
  }
  const std::string file = llama().key("tokenizer.ggml.model", "gpt2").bytes();
  TEST_ASSERT_TRUE(contains(message_of<Error>([&] { read_gguf_tokenizer(as_bytes(file), "m"); }), "tokens"));
}

TEST("gguf: any cut and any changed byte is an error or a model inside the file") {
  auto builder = llama().key("llama.rope.scaling.type", "yarn").key("llama.rope.scaling.factor", 4.0f);
  builder.key("tokenizer.ggml.tokens", 9,
              raw(8u) + raw(uint64_t{2}) + GgufBuilder::string("ab") + GgufBuilder::string("c"));
  builder.matrix("blk.0.attn_q.weight", 8, 8, counted(64)).vector("blk.0.attn_k.bias", counted(4));
  builder.tensor("blk.0.ffn_up.weight", {32, 2}, 2, std::string(36, 'q'));
  size_t errors = 0, successes = 0;
  for_each_damage(builder.bytes(), [&](std::span<const std::byte> file) {
    Source source;
    if (!message_of<Error>([&] { source = read_gguf(file, "m"); }).empty()) {
      ++errors;
      return;
    }
    ++successes;
    for (const auto& [name, tensor] : source.tensors) {
      std::vector<float> row(tensor.cols());
      for (uint64_t i = 0; i < tensor.rows(); ++i) read_row(tensor, i, row);
    }
  });
  TEST_ASSERT_TRUE(errors > 1000);
  TEST_ASSERT_TRUE(successes > 1000);
}
