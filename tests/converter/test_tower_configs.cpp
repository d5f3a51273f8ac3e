// SPDX-License-Identifier: Apache-2.0
//
// Configs of CLIP's and TrOCR's towers as they are published, and an older key that replaces one.
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::testing;
using nlohmann::json;

namespace {

/// What transformers before 4.30 wrote into every config inside another, whatever the model: keys of the
/// published openai/clip-vit-base-patch32 and microsoft/trocr-base-printed.
const json kLegacyKeys = {{"_name_or_path", ""},
                          {"add_cross_attention", false},
                          {"architectures", nullptr},
                          {"bad_words_ids", nullptr},
                          {"chunk_size_feed_forward", 0},
                          {"cross_attention_hidden_size", nullptr},
                          {"decoder_start_token_id", nullptr},
                          {"diversity_penalty", 0.0},
                          {"do_sample", false},
                          {"early_stopping", false},
                          {"encoder_no_repeat_ngram_size", 0},
                          {"finetuning_task", nullptr},
                          {"forced_bos_token_id", nullptr},
                          {"forced_eos_token_id", nullptr},
                          {"id2label", {{"0", "LABEL_0"}, {"1", "LABEL_1"}}},
                          {"is_decoder", false},
                          {"is_encoder_decoder", false},
                          {"label2id", {{"LABEL_0", 0}, {"LABEL_1", 1}}},
                          {"length_penalty", 1.0},
                          {"max_length", 20},
                          {"min_length", 0},
                          {"no_repeat_ngram_size", 0},
                          {"num_beam_groups", 1},
                          {"num_beams", 1},
                          {"num_return_sequences", 1},
                          {"output_attentions", false},
                          {"output_hidden_states", false},
                          {"output_scores", false},
                          {"prefix", nullptr},
                          {"problem_type", nullptr},
                          {"pruned_heads", json::object()},
                          {"remove_invalid_values", false},
                          {"repetition_penalty", 1.0},
                          {"return_dict", true},
                          {"return_dict_in_generate", false},
                          {"sep_token_id", nullptr},
                          {"task_specific_params", nullptr},
                          {"temperature", 1.0},
                          {"tf_legacy_loss", false},
                          {"tie_encoder_decoder", false},
                          {"tie_word_embeddings", true},
                          {"tokenizer_class", nullptr},
                          {"top_k", 50},
                          {"top_p", 1.0},
                          {"torch_dtype", nullptr},
                          {"torchscript", false},
                          {"transformers_version", "4.16.0.dev0"},
                          {"typical_p", 1.0},
                          {"use_bfloat16", false}};

Source golden_source(const std::string& name) {
  return read_source(std::string(MOTE_SOURCE_DIR) + "/tests/golden/models/" + name);
}

TransformerSpec tower_of(Source& source, json config, const std::string& tower) {
  source.config = std::make_shared<const json>(std::move(config));
  source.tower = tower;
  Config keys(*source.config);
  TransformerSpec spec = find_architecture(keys).read(source, keys);
  keys.finish();
  keys.check_keys();
  return spec;
}

/// The config with the legacy keys in two inner ones, where these have no such key.
json published(json config, const char* first, const char* second) {
  for (const char* inner : {first, second}) {
    json keys = kLegacyKeys;
    keys.update(config[inner]);
    config[inner] = keys;
  }
  return config;
}

}  // namespace

TEST("keys that older writers put into every inner config change nothing of CLIP's towers") {
  Source source = golden_source("clip");
  json config = published(*source.config, "text_config", "vision_config");
  config.update({{"text_config_dict", nullptr}, {"vision_config_dict", nullptr}, {"torch_dtype", "float32"}});
  for (const char* tower : {"vision", "text"}) {
    CAPTURE(tower);
    TEST_ASSERT_EQUAL_UINT32(32, tower_of(source, config, tower).width);
  }
}

TEST("keys that older writers put into every inner config change nothing of TrOCR") {
  Source source = golden_source("trocr");
  json config = published(*source.config, "encoder", "decoder");
  config["decoder"].update({{"use_cache", false}, {"classifier_dropout", 0.0}, {"is_decoder", true}});
  config.update({{"processor_class", "TrOCRProcessor"}, {"tie_word_embeddings", false}, {"num_beams", 4}});
  TEST_ASSERT_EQUAL_UINT32(24, tower_of(source, config, "").width);
}

TEST("CLIP's text_config_dict replaces text_config, and what it leaves out has the class's default") {
  Source source = golden_source("clip");
  json config = *source.config;
  config["text_config"]["intermediate_size"] = 52;
  config["text_config_dict"] = {{"hidden_size", 64}, {"num_hidden_layers", 3}, {"tie_word_embeddings", true}};
  const TransformerSpec spec = tower_of(source, config, "text");
  TEST_ASSERT_EQUAL_UINT32(64, spec.width);
  TEST_ASSERT_EQUAL_UINT64(3, spec.layers.size());
  TEST_ASSERT_EQUAL_UINT32(2048, spec.layers[0].ffn.width);
  TEST_ASSERT_EQUAL_UINT32(8, spec.layers[0].attention.heads);
  config["text_config_dict"] = "x";
  TEST_ASSERT_TRUE(
      contains(message_of<Error>([&] { tower_of(source, config, "text"); }), "text_config_dict"));
}
