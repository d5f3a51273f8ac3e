// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/gguf_families.h"

#include "converter/readers/gguf_more_names.h"
#include "converter/readers/gguf_names.h"
#include "converter/readers/gguf_special_names.h"

namespace mote::convert {
namespace {

constexpr const char *kSilu = "silu", *kTanhGelu = "gelu_pytorch_tanh";

// clang-format off
constexpr Family kFamilies[] = {
    {"llama", "hidden_act", kSilu, true, kLlamaKeys, kLlamaTensors, true, true, "",
     {"mixtral", kMixtralKeys, kMixtralTensors}, "", "", {}, read_own_llama},
    {"mistral3", "hidden_act", kSilu, true, kLlamaKeys, kLlamaTensors, true, true, "mistral", {}, "", "", {},
     read_own_mistral3},
    {"smollm3", "hidden_act", kSilu, true, kLlamaKeys, kLlamaTensors, true, true},
    {"qwen2", "hidden_act", kSilu, true, kLlamaKeys, kLlamaTensors, true, false},
    {"qwen3", "hidden_act", kSilu, true, kLlamaKeys, kLlamaTensors, true, false},
    {"qwen2moe", "hidden_act", kSilu, true, kLlamaKeys, kLlamaTensors, true, false, "",
     {"qwen2_moe", kQwenMoeKeys, kQwenMoeTensors}},
    {"qwen3moe", "hidden_act", kSilu, true, kLlamaKeys, kLlamaTensors, true, false, "",
     {"qwen3_moe", kQwenMoeKeys, kQwenMoeTensors, true}},
    {"qwen35", "hidden_act", kSilu, true, kLlamaKeys, kQwen35Tensors, true, false, "qwen3_5_text", {}, "", "", {},
     read_own_qwen35},
    {"granite", "hidden_act", kSilu, true, kGraniteKeys, kLlamaTensors, true, true, "", {}, "", "", {},
     read_own_granite},
    {"granitehybrid", "hidden_act", kSilu, true, kGraniteKeys, kLlamaTensors, true, true, "granitemoehybrid",
     {"granitemoehybrid", kMixtralKeys, kGraniteMoeTensors}, "mamba", "attention", kScanTensors,
     read_own_granite_hybrid},
    {"lfm2", nullptr, nullptr, false, kLfm2Keys, kLfm2Tensors, true, false, "", {}, "conv", "full_attention", {},
     read_own_lfm2},
    {"lfm2moe", nullptr, nullptr, false, kLfm2MoeKeys, kLfm2Tensors, true, false, "lfm2_moe", {}, "conv",
     "full_attention", kLfm2ExpertTensors, read_own_lfm2_moe},
    {"olmo2", "hidden_act", kSilu, true, kLlamaKeys, kSandwichTensors, true, false, "", {}, "", "", {},
     read_own_olmo2},
    {"gemma", "hidden_act", kTanhGelu, true, kGemmaKeys, kLlamaTensors, true, false},
    {"gemma2", "hidden_activation", kTanhGelu, true, kGemmaKeys, kSandwichTensors, true, false, "", {}, "", "", {},
     read_own_gemma2},
    {"gemma3", "hidden_activation", kTanhGelu, true, kGemmaKeys, kSandwichTensors, true, false, "gemma3_text", {}, "",
     "", {}, read_own_gemma3},
    {"gemma-embedding", "hidden_activation", kTanhGelu, true, kGemmaKeys, kSandwichTensors, true, false,
     "gemma3_text", {}, "", "", {}, read_own_embedding_gemma},
    {"gemma3n", "hidden_activation", kTanhGelu, true, kGemma3nKeys, kSandwichTensors, true, false, "gemma3n_text", {},
     "", "", kGemma3nTensors, read_own_gemma3n},
    {"gemma4", "hidden_activation", kTanhGelu, false, kGemma4Keys, kSandwichTensors, false, false, "gemma4_text", {},
     "", "", kGemma4Tensors, read_own_gemma4},
    {"deepseek2", "hidden_act", kSilu, false, kDeepSeekKeys, kDeepSeekTensors, false, false, "deepseek_v3", {}, "", "",
     kCommonTensors, read_own_deepseek2},
    {"phi3", "hidden_act", kSilu, true, kWindowKeys, kPhi3Tensors, true, false, "", {}, "", "", {}, read_own_phi3},
    {"exaone4", "hidden_act", kSilu, true, kWindowKeys, kExaone4Tensors, true, false, "", {}, "", "", {},
     read_own_exaone4},
    {"glm4", "hidden_act", kSilu, true, kLlamaKeys, kGlm4Tensors, true, false, "", {}, "", "", {}, read_own_glm4},
    {"gpt-oss", "hidden_act", kSilu, true, kGptOssKeys, kGptOssTensors, true, false, "gpt_oss", {}, "", "", {},
     read_own_gpt_oss},
    {"starcoder2", "hidden_act", kTanhGelu, false, kStarcoder2Keys, kStarcoder2Tensors, true, false},
    {"mamba", "hidden_act", kSilu, false, kMambaKeys, kMambaTensors, false, false, "", {}, "", "", {},
     read_own_mamba},
    {"mamba2", "hidden_act", kSilu, false, kMamba2Keys, kMamba2Tensors, false, false, "", {}, "", "", {},
     read_own_mamba2},
    {"falcon-h1", "hidden_act", kSilu, true, kLlamaKeys, kFalconH1Tensors, true, false, "falcon_h1", {}, "", "",
     kScanTensors, read_own_falcon_h1},
    {"gpt2", "activation_function", "gelu_new", false, kGpt2Keys, kGpt2Tensors, false, false},
    {"bert", "hidden_act", "gelu", false, kBertKeys, kBertTensors, false, false, "", {}, "", "", {}, read_own_bert},
    {"nomic-bert", "hidden_act", kSilu, false, kNomicBertKeys, kNomicBertTensors, false, false, "nomic_bert", {}, "",
     "", {}, read_own_nomic_bert},
    {"modern-bert", "hidden_activation", "gelu", false, kModernBertKeys, kModernBertTensors, false, false,
     "modernbert", {}, "", "", {}, read_own_modern_bert},
    {"t5", nullptr, nullptr, false, kT5Keys, kT5Tensors, false, false, "", {}, "", "", {}, read_own_t5},
    {"t5encoder", nullptr, nullptr, false, kT5Keys, kT5Tensors, false, false, "t5", {}, "", "", {},
     read_own_t5_encoder}};
// clang-format on

}  // namespace

std::span<const Family> gguf_families() { return kFamilies; }

std::span<const KeyRule> Family::common_keys() const {
  return is_common ? std::span<const KeyRule>(kCommonKeys) : std::span<const KeyRule>();
}

std::span<const TensorRule> Family::common_tensors() const {
  return is_common ? std::span<const TensorRule>(kCommonTensors) : std::span<const TensorRule>();
}

}  // namespace mote::convert
