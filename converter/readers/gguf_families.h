// SPDX-License-Identifier: Apache-2.0
//
// GGUF's names of the config keys and tensors of each architecture that is read.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace mote::convert {

class GgufKeys;
struct GgufFile;
struct Source;

enum class KeyKind : uint8_t { size, real };
enum class Presence : uint8_t { required, optional };

struct KeyRule {
  const char* gguf;  // after the architecture's name
  const char* config;
  KeyKind kind = KeyKind::size;
  Presence presence = Presence::required;
};

/// Names without ".weight" or ".bias"; {} is the layer. A tensor whose name has [] is stacked: that of each
/// expert, whose number stands for [].
struct TensorRule {
  const char* gguf;
  const char* name;    // null: what the tensor says is in the config, or nothing reads it
  bool whole = false;  // both names are with their ends
};

struct Family;

/// A file whose keys become a config.
struct FamilyInput {
  const Family& family;
  const GgufFile& file;
  GgufKeys& metadata;
  nlohmann::json& config;
  const std::string& where;
};

struct Family {
  std::string_view name;       // general.architecture
  const char* activation_key;  // null: there is none
  const char* activation;
  bool is_common;  // has kCommonKeys and kCommonTensors too
  std::span<const KeyRule> keys;
  std::span<const TensorRule> tensors;
  bool has_rope;
  bool interleaved;                  // the rows of q and k are in the order of interleaved RoPE
  std::string_view model_type = {};  // where it is not the name
  // The names of a file whose expert_count is not 0; a family without model_type has none.
  struct Experts {
    std::string_view model_type = {};
    std::span<const KeyRule> keys = {};
    std::span<const TensorRule> tensors = {};
    bool normalized = false;  // norm_topk_prob, which is no metadata key
  } experts = {};

  std::span<const KeyRule> common_keys() const;
  std::span<const TensorRule> common_tensors() const;
  // Where attention.head_count_kv has a number for each layer: the type of layers of 0, and of the others.
  std::string_view other_layer = {}, attention_layer = {};
  std::span<const TensorRule> of_other_layers = {};  // besides `tensors`
  // Reads what is the family's own, behind all other keys.
  void (*read_own)(const FamilyInput& input) = nullptr;
};

std::span<const Family> gguf_families();

/// Reads the keys of the rules into the config. Throws Error where one that is required is missing.
void read_gguf_keys(const FamilyInput& input, std::span<const KeyRule> rules);

/// Reads rope.scaling.* as rope_scaling.
void read_gguf_rope(const FamilyInput& input);

/// Adds the file's tensors under Hugging Face's names. Throws Error where one has none.
void add_gguf_tensors(Source& source, const Family& family, const GgufFile& file, const std::string& where);

/// Says whether llama.cpp reads that key of an architecture: gguf_read_keys.cpp.
bool llama_cpp_reads(std::string_view architecture, std::string_view key);

// ---- What families read of their own: gguf_own_keys.cpp, gguf_special_keys.cpp ----

void read_own_bert(const FamilyInput& input);
void read_own_nomic_bert(const FamilyInput& input);
void read_own_modern_bert(const FamilyInput& input);
void read_own_llama(const FamilyInput& input);
void read_own_mistral3(const FamilyInput& input);
void read_own_lfm2(const FamilyInput& input);
void read_own_lfm2_moe(const FamilyInput& input);
void read_own_granite(const FamilyInput& input);
void read_own_granite_hybrid(const FamilyInput& input);
void read_own_gemma2(const FamilyInput& input);
void read_own_gemma3(const FamilyInput& input);
void read_own_embedding_gemma(const FamilyInput& input);
void read_own_olmo2(const FamilyInput& input);
void read_own_phi3(const FamilyInput& input);
void read_own_exaone4(const FamilyInput& input);
void read_own_glm4(const FamilyInput& input);
void read_own_gpt_oss(const FamilyInput& input);
void read_own_qwen35(const FamilyInput& input);
void read_own_mamba(const FamilyInput& input);
void read_own_mamba2(const FamilyInput& input);
void read_own_falcon_h1(const FamilyInput& input);
void read_own_deepseek2(const FamilyInput& input);
void read_own_gemma3n(const FamilyInput& input);
void read_own_gemma4(const FamilyInput& input);
void read_own_t5(const FamilyInput& input);
void read_own_t5_encoder(const FamilyInput& input);

}  // namespace mote::convert
