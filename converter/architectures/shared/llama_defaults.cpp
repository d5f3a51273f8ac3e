// SPDX-License-Identifier: Apache-2.0
//
// The defaults of the config classes of llama's relatives for keys that are absent, a row for each class by
// alphabet.
#include "converter/architectures/shared/architecture.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

struct LlamaRelative {
  std::string_view name;
  LlamaDefaults defaults;
};

// clang-format off
constexpr LlamaRelative kLlamaRelatives[] = {
    {"apertus", {.vocab = 131072, .ffn_width = 14336, .context = 65536, .mlp_bias = false, .bos_id = 1,
     .eps = 1e-5, .activation_key = nullptr, .rope = {.theta = 1.2e7}}},
    {"bitnet", {.vocab = 128256, .ffn_width = 6912, .context = 2048, .kv_heads = 5, .mlp_bias = false,
     .bos_id = 128000, .width = 2560, .layers = 30, .heads = 20, .eps = 1e-5, .activation = "relu2",
     .rope = {.theta = 5e5}}},
    {"cohere", {.vocab = 256000, .ffn_width = 22528, .context = 8192, .mlp_bias = false, .bos_id = 5,
     .width = 8192, .layers = 40, .heads = 64, .eps_key = "layer_norm_eps", .eps = 1e-5, .tied = true,
     .rope = {.theta = 5e5, .kind = RopeKind::interleaved}}},
    {"deepseek_v3", {.vocab = 129280, .ffn_width = 18432, .context = 4096, .kv_heads = 128,
     .mlp_bias = false, .bos_id = 0, .width = 7168, .layers = 61, .heads = 128, .own_ropes = true}},
    {"embedding_gemma2_text", {.vocab = 262144, .ffn_width = 2048, .context = 262144, .kv_heads = 2,
     .head_dim = 256, .kv_heads_null = false, .mlp_bias = false, .bos_id = 2, .width = 512, .layers = 24,
     .heads = 4, .activation_key = "hidden_activation", .activation = "gelu_pytorch_tanh",
     .own_ropes = true}},
    {"ernie4_5", {.vocab = 103424, .ffn_width = 3072, .context = 131072, .kv_heads = 2, .head_dim = 128,
     .head_dim_null = true, .attention_bias = false, .mlp_bias = false, .bos_id = 1, .width = 1024,
     .layers = 18, .heads = 16, .eps = 1e-5, .tied = true, .rope = {.theta = 5e5,
     .kind = RopeKind::interleaved}}},
    {"eurobert", {.vocab = 128256, .ffn_width = 3072, .context = 8192, .width = 768, .layers = 12,
     .heads = 12, .eps = 1e-5}},
    {"exaone4", {.vocab = 102400, .ffn_width = 16384, .context = 2048, .kv_heads = 32, .kv_heads_null = false,
     .attention_bias = false, .mlp_bias = false, .bos_id = 0, .eps = 1e-5}},
    {"falcon_h1", {.vocab = 128000, .ffn_width = 14336, .context = 8192, .kv_heads = 8, .bos_id = 1,
     .eps = 1e-5}},
    {"gemma", {.vocab = 256000, .ffn_width = 24576, .context = 8192, .kv_heads = 16, .head_dim = 256,
     .kv_heads_null = false, .mlp_bias = false, .bos_id = 2, .width = 3072, .layers = 28, .heads = 16,
     .activation_key = nullptr, .activation = "gelu_pytorch_tanh", .tied = true}},
    {"gemma2", {.vocab = 256000, .ffn_width = 9216, .context = 8192, .kv_heads = 4, .head_dim = 256,
     .kv_heads_null = false, .mlp_bias = false, .bos_id = 2, .width = 2304, .layers = 26, .heads = 8,
     .activation_key = "hidden_activation", .activation = "gelu_pytorch_tanh", .tied = true}},
    {"gemma3_text", {.vocab = 262208, .ffn_width = 9216, .context = 131072, .kv_heads = 4, .head_dim = 256,
     .kv_heads_null = false, .mlp_bias = false, .bos_id = 2, .width = 2304, .layers = 26, .heads = 8,
     .activation_key = "hidden_activation", .activation = "gelu_pytorch_tanh", .tied = true,
     .own_ropes = true}},
    {"gemma3n_text", {.vocab = 262400, .ffn_width = 0, .context = 32768, .kv_heads = 2, .head_dim = 256,
     .kv_heads_null = false, .mlp_bias = false, .bos_id = 2, .width = 2048, .layers = 35, .heads = 8,
     .activation_key = "hidden_activation", .activation = "gelu_pytorch_tanh", .tied = true,
     .own_ropes = true}},
    {"gemma4_text", {.vocab = 262144, .ffn_width = 9216, .context = 131072, .kv_heads = 4, .head_dim = 256,
     .kv_heads_null = false, .mlp_bias = false, .bos_id = 2, .width = 2304, .layers = 30, .heads = 8,
     .activation_key = "hidden_activation", .activation = "gelu_pytorch_tanh", .tied = true,
     .own_ropes = true}},
    {"glm4", {.vocab = 151552, .ffn_width = 13696, .context = 131072, .kv_heads = 2, .head_dim = 128,
     .kv_heads_null = false, .mlp_bias = false, .has_attention_bias = true, .layers = 40, .eps = 1.5625e-7,
     .rope = {.partial = 0.5, .kind = RopeKind::interleaved}}},
    {"gpt_oss", {.vocab = 201088, .ffn_width = 2880, .context = 131072, .kv_heads = 8, .head_dim = 64,
     .mlp_bias = false, .has_attention_bias = true, .width = 2880, .layers = 36, .heads = 64, .eps = 1e-5,
     .rope = {.theta = 150000.0}}},
    {"granite", {.vocab = 32000, .ffn_width = 11008, .context = 2048, .bos_id = 1}},
    {"granitemoehybrid", {.vocab = 32000, .ffn_width = 11008, .context = 2048, .mlp_bias = false,
     .bos_id = 1}},
    {"helium", {.vocab = 48000, .ffn_width = 7040, .context = 4096, .kv_heads = 20, .head_dim = 128,
     .kv_heads_null = false, .bos_id = 1, .width = 2560, .layers = 24, .heads = 20, .eps = 1e-8,
     .rope = {.theta = 1e5, .kind = RopeKind::interleaved}}},
    {"hunyuan_v1_dense", {.vocab = 290943, .ffn_width = 11008, .context = 2048, .mlp_bias = false,
     .bos_id = 1, .eps = 1e-5}},
    {"lfm2", {.vocab = 65536, .ffn_width = 12288, .context = 128000, .kv_heads = 8, .attention_bias = false,
     .mlp_bias = false, .bos_id = 1, .width = 2560, .eps_key = "norm_eps", .eps = 1e-5,
     .activation_key = nullptr, .tied = true, .rope = {.theta = 1000000.0}}},
    {"lfm2_moe", {.vocab = 65536, .ffn_width = 7168, .context = 128000, .kv_heads = 8,
     .attention_bias = false, .mlp_bias = false, .bos_id = 1, .width = 2048, .eps_key = "norm_eps",
     .eps = 1e-5, .activation_key = nullptr, .tied = true, .rope = {.theta = 1000000.0}}},
    {"lfm3", {.vocab = 128000, .ffn_width = 7680, .context = 128000, .kv_heads = 4, .head_dim = 128,
     .mlp_bias = false, .bos_id = 124894, .width = 2048, .layers = 24, .heads = 16, .eps_key = "norm_eps",
     .eps = 1e-5, .activation_key = nullptr, .tied = true, .own_ropes = true}},
    {"llama", {.vocab = 32000, .ffn_width = 11008, .context = 2048, .bos_id = 1}},
    {"minicpm3", {.vocab = 73448, .ffn_width = 6400, .context = 32768, .kv_heads = 40,
     .bos_id = 1, .width = 2560, .layers = 62, .heads = 40, .eps = 1e-5, .tied = true, .own_ropes = true}},
    {"ministral3", {.vocab = 131072, .ffn_width = 14336, .context = 262144, .kv_heads = 8, .head_dim = 128,
     .head_dim_null = true, .attention_bias = false, .mlp_bias = false, .bos_id = 1, .layers = 34,
     .eps = 1e-5, .rope = {.theta = 1e6, .grows = true}}},
    {"mistral", {.vocab = 32000, .ffn_width = 14336, .context = 131072, .kv_heads = 8, .kv_heads_null = false,
     .attention_bias = false, .mlp_bias = false, .bos_id = 1}},
    {"mixtral", {.vocab = 32000, .ffn_width = 14336, .context = 4096 * 32, .kv_heads = 8,
     .kv_heads_null = false, .attention_bias = false, .mlp_bias = false, .bos_id = 1, .eps = 1e-5}},
    {"nanochat", {.vocab = 50304, .ffn_width = 8192, .context = 2048, .mlp_bias = false, .bos_id = 0,
     .width = 768, .layers = 12, .heads = 6, .activation = "relu2"}},
    {"olmo2", {.vocab = 50304, .ffn_width = 11008, .context = 2048, .mlp_bias = false, .eps = 1e-5}},
    {"olmo3", {.vocab = 50304, .ffn_width = 11008, .context = 2048, .mlp_bias = false, .eps = 1e-5,
     .own_ropes = true}},
    {"phi", {.vocab = 51200, .ffn_width = 8192, .context = 2048, .attention_bias = false, .mlp_bias = false,
     .bos_id = 1, .width = 2048, .layers = 24, .eps_key = "layer_norm_eps", .eps = 1e-5,
     .activation = "gelu_new", .rope = {.partial = 0.5}}},
    {"phi3", {.vocab = 32064, .ffn_width = 8192, .context = 4096, .attention_bias = false, .mlp_bias = false,
     .bos_id = 1, .width = 3072, .eps = 1e-5, .rope = {.partial = 1.0}}},
    {"qwen2", {.vocab = 151936, .ffn_width = 22016, .context = 32768, .kv_heads = 32, .attention_bias = false,
     .mlp_bias = false}},
    {"qwen2_moe", {.vocab = 151936, .ffn_width = 5632, .context = 32768, .kv_heads = 16,
     .attention_bias = false, .mlp_bias = false, .width = 2048, .layers = 24, .heads = 16}},
    {"qwen3", {.vocab = 151936, .ffn_width = 22016, .context = 32768, .kv_heads = 32, .head_dim = 128,
     .mlp_bias = false}},
    {"qwen3_5_text", {.vocab = 248320, .ffn_width = 12288, .context = 32768, .kv_heads = 4, .head_dim = 256,
     .mlp_bias = false, .heads = 16, .rope = {.partial = 0.25}, .own_ropes = true}},
    {"qwen3_moe", {.vocab = 151936, .ffn_width = 6144, .context = 32768, .kv_heads = 4, .mlp_bias = false,
     .width = 2048, .layers = 24}},
    {"smollm3", {.vocab = 128256, .ffn_width = 11008, .context = 32768, .kv_heads = 4, .bos_id = 128000,
     .width = 2048, .layers = 36, .heads = 16, .tied = true, .rope = {.theta = 2e6}}},
    {"stablelm", {.vocab = 50304, .ffn_width = 6912, .context = 4096, .kv_heads = 32, .kv_heads_null = false,
     .attention_bias = false, .mlp_bias = false, .bos_id = 0, .width = 2560, .eps_key = "layer_norm_eps",
     .eps = 1e-5, .rope = {.partial = 0.25}}},
    {"starcoder2", {.vocab = 49152, .ffn_width = 12288, .context = 4096, .kv_heads = 2,
     .kv_heads_null = false, .attention_bias = false, .mlp_bias = false, .bos_id = 50256, .width = 3072,
     .layers = 30, .heads = 24, .eps_key = "norm_epsilon", .eps = 1e-5, .activation = "gelu_pytorch_tanh",
     .tied = true}},
};
// clang-format on

}  // namespace

const LlamaDefaults& llama_defaults(std::string_view name) {
  for (const LlamaRelative& row : kLlamaRelatives) {
    if (row.name == name) return row.defaults;
  }
  fail("{} has no row of defaults", name);
}

TransformerSpec read_llama_like(const Source& source, Config& config, std::string_view name) {
  return read_llama_like(source, config, llama_defaults(name));
}

}  // namespace mote::convert
