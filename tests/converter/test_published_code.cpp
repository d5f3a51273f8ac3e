// SPDX-License-Identifier: Apache-2.0
#include "converter/published_code.h"

#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"
#include "converter/towers.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using mote::testing::contains;
using mote::testing::message_of;
using nlohmann::json;

namespace {

Source source_of(const json& keys) {
  Source source;
  source.format = "hf";
  source.config_path = "config.json";
  source.config = std::make_shared<const json>(keys);
  return source;
}

json known_keys(const json& keys) {
  Source source = source_of(keys);
  take_published_code(source);
  return *source.config;
}

std::string problem_of(const json& keys) {
  return message_of<Error>([&] { known_keys(keys); });
}

/// NomicBERT under GPT-2's names, as far as it has to say something.
json nomic(const json& more) {
  json keys = {{"model_type", "nomic_bert"},
               {"auto_map", {{"AutoModel", "nomic-ai/x--modeling_hf_nomic_bert.NomicBertModel"}}},
               {"n_embd", 32},
               {"n_inner", nullptr},
               {"activation_function", "swiglu"},
               {"qkv_proj_bias", false},
               {"mlp_fc1_bias", false},
               {"mlp_fc2_bias", false},
               {"rotary_emb_fraction", 1.0},
               {"rotary_scaling_factor", nullptr},
               {"n_positions", 8192}};
  keys.update(more);
  return keys;
}

json mgte(const json& more) {
  json keys = {{"model_type", "new"}};
  keys.update(more);
  return keys;
}

std::string unknown_keys(json keys) {
  return message_of<Error>([&] {
    Config config(keys);
    const Source source = source_of(keys);
    find_architecture(config).read(source, config);
    config.finish();
    config.check_keys();
  });
}

}  // namespace

TEST("published code: GPT-2's names of a NomicBERT become those of the known class") {
  const json keys = known_keys(nomic({{"vocab_size", 30522}, {"pad_vocab_size_multiple", 64}}));
  TEST_ASSERT_EQUAL_INT(32, keys.at("hidden_size").get<int>());
  TEST_ASSERT_EQUAL_INT(128, keys.at("intermediate_size").get<int>());
  TEST_ASSERT_EQUAL_INT(30528, keys.at("vocab_size").get<int>());
  TEST_ASSERT_EQUAL_INT(8192, keys.at("max_position_embeddings").get<int>());
  TEST_ASSERT_EQUAL_INT(1000, keys.at("rope_theta").get<int>());
  TEST_ASSERT_EQUAL_STRING("silu", keys.at("hidden_act").get<std::string>());
  TEST_ASSERT_FALSE(keys.contains("n_embd"));
  TEST_ASSERT_FALSE(keys.contains("auto_map"));
}

TEST("published code: where RoPE grows with the text, a NomicBERT's context ends before that") {
  const json keys = known_keys(nomic({{"rotary_scaling_factor", 2}, {"max_trained_positions", 2048}}));
  TEST_ASSERT_EQUAL_INT(2048, keys.at("max_position_embeddings").get<int>());
}

TEST("published code: two spellings of one value have to agree") {
  TEST_ASSERT_TRUE(contains(problem_of(nomic({{"hidden_size", 64}})), "n_embd is 32, but hidden_size is 64"));
  TEST_ASSERT_EQUAL_STRING("", problem_of(nomic({{"hidden_size", 32}})));
}

TEST(
    "published code: what the authors' classes compute and the architecture does not is refused by its key") {
  const std::pair<const char*, json> refused[] = {{"prenorm", true},
                                                  {"qkv_proj_bias", true},
                                                  {"rotary_emb_fraction", 0.5},
                                                  {"num_experts", 8},
                                                  {"use_rms_norm", true},
                                                  {"rotary_emb_interleaved", true},
                                                  {"activation_function", "gelu"},
                                                  {"causal", true},
                                                  {"rotary_emb_scale_base", 512}};
  for (const auto& [key, value] : refused) {
    CAPTURE(key);
    TEST_ASSERT_TRUE(contains(problem_of(nomic({{key, value}})), key));
  }
  for (const auto& [key, value] : {std::pair<const char*, json>{"logn_attention_scale", true},
                                   {"position_embedding_type", "absolute"},
                                   {"layer_norm_type", "rms_norm"},
                                   {"pack_qkv", false}}) {
    CAPTURE(key);
    TEST_ASSERT_TRUE(contains(problem_of(mgte({{key, value}})), key));
  }
}

TEST("published code: a class of transformers is known by its model_type's letters") {
  TEST_ASSERT_TRUE(is_class_of("Phi3ForCausalLM", "phi3"));
  TEST_ASSERT_TRUE(is_class_of("DeepseekV3Model", "deepseek_v3"));
  TEST_ASSERT_TRUE(is_class_of("Ernie4_5_ForCausalLM", "ernie4_5"));
  TEST_ASSERT_FALSE(is_class_of("BertWithMoreForMaskedLM", "bert"));
  TEST_ASSERT_FALSE(is_class_of("XLMRobertaLoRA", "xlm-roberta"));
}

TEST("published code: with a class that nobody knows, a key that transformers does not read stays an error") {
  json keys = {{"model_type", "bert"}, {"own_key", 3}};
  TEST_ASSERT_EQUAL_STRING("", unknown_keys(keys));
  keys["auto_map"] = {{"AutoModel", "modeling.BertWithMoreModel"}};
  TEST_ASSERT_TRUE(contains(unknown_keys(keys), "own_key is 3"));
}

TEST("rope: keys that no function of the original reads are ignored inside, of a class that is known") {
  json keys = {{"model_type", "qwen3"},
               {"rope_scaling", {{"rope_type", "linear"}, {"factor", 2.0}, {"finetuned", true}}}};
  TEST_ASSERT_EQUAL_STRING("", unknown_keys(keys));
  keys["rope_scaling"]["partial_rotary_factor"] = 0.5;
  TEST_ASSERT_TRUE(contains(unknown_keys(keys), "partial_rotary_factor"));
}

TEST("rope: rope_scaling beside rope_parameters is accepted where both say the same") {
  const json now = {{"rope_type", "linear"}, {"factor", 2.0}, {"rope_theta", 5e5}};
  json keys = {{"model_type", "qwen3"},
               {"rope_parameters", now},
               {"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}}};
  TEST_ASSERT_EQUAL_STRING("", unknown_keys(keys));
  keys["rope_scaling"]["factor"] = 4.0;
  TEST_ASSERT_TRUE(contains(unknown_keys(keys), "contradict"));
}

TEST("towers: another part than the texts is refused by the whole's model_type") {
  Source source = source_of({{"model_type", "gemma3"}, {"text_config", json::object()}});
  source.tower = "vision";
  TEST_ASSERT_TRUE(
      contains(message_of<Error>([&] { enter_text_tower(source); }), "--tower vision: of model_type gemma3"));
}

TEST("towers: a whole without its texts' weights is said as such") {
  Source source = source_of({{"model_type", "llava"}});
  TEST_ASSERT_TRUE(contains(message_of<Error>([&] { enter_text_tower(source); }), "embed_tokens.weight"));
}
