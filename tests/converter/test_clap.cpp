// SPDX-License-Identifier: Apache-2.0
//
// CLAP's configs: settings that are read, and those that are refused by name.
#include "converter/architectures/shared/architecture.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::testing;
using nlohmann::json;

namespace {

/// The spec of a source without weights or settings; all of its keys are understood.
TransformerSpec clap_spec(const json& keys, const std::string& tower = "") {
  Source source;
  source.config = std::make_shared<const json>(keys);
  source.tower = tower;
  Config config(*source.config);
  TransformerSpec spec = find_architecture(config).read(source, config);
  config.finish();
  config.check_keys();
  return spec;
}

std::string clap_refusal(const json& keys, const std::string& tower = "") {
  return message_of<Error>([&] { clap_spec(keys, tower); });
}

json clap_audio(const json& changes) {
  json keys = {{"model_type", "clap_audio_model"}};
  keys.update(changes);
  return keys;
}

}  // namespace

TEST("clap: absent keys are what the original's config classes have") {
  const TransformerSpec sounds = clap_spec(clap_audio(json::object()));
  TEST_ASSERT_EQUAL_UINT64(4, sounds.layers.size());
  TEST_ASSERT_EQUAL_UINT32(768, sounds.width);
  TEST_ASSERT_EQUAL_UINT32(96, sounds.embedding_width);
  TEST_ASSERT_EQUAL_UINT32(4096, sounds.context);
  REQUIRE(sounds.sound.has_value());
  TEST_ASSERT_TRUE(sounds.sound->frames == 1024 && sounds.sound->bins == 64 && sounds.sound->patch == 4);
  TEST_ASSERT_TRUE(sounds.sound->rate == 48000 && sounds.sound->features == SoundFeatures::none);
  const TransformerSpec texts = clap_spec({{"model_type", "clap_text_model"}});
  TEST_ASSERT_EQUAL_UINT32(50265, texts.vocab);
  TEST_ASSERT_EQUAL_UINT32(512, texts.context);
  TEST_ASSERT_EQUAL_UINT64(12, texts.layers.size());
  TEST_ASSERT_TRUE(texts.norm_eps == 1e-12f && texts.token_types == 1 && texts.first_position == 2);
}

TEST("clap: patches of other sizes, sides of lists and other depths are read") {
  const TransformerSpec spec = clap_spec(clap_audio({{"patch_size", {8, 8}},
                                                     {"patch_stride", 8},
                                                     {"depths", {1, 3}},
                                                     {"num_attention_heads", {2, 4}},
                                                     {"patch_embeds_hidden_size", 32},
                                                     {"hidden_size", 64}}));
  TEST_ASSERT_EQUAL_UINT64(2, spec.layers.size());
  TEST_ASSERT_EQUAL_UINT32(1024, spec.context);
  TEST_ASSERT_EQUAL_UINT32(8, spec.sound->frame_step);
}

TEST("clap: what would change results and is not supported is refused by its key") {
  const std::pair<json, const char*> cases[] = {
      {{{"enable_fusion", true}}, "enable_fusion is true, which is not supported"},
      {{{"flatten_patch_embeds", false}}, "flatten_patch_embeds is false"},
      {{{"patch_embed_input_channels", 4}}, "patch_embed_input_channels 4 is not supported"},
      {{{"patch_stride", {2, 2}}}, "patch_stride 2 is not supported; that of patch_size, 4, is"},
      {{{"patch_size", {4, 8}}}, "patch_size is [4,8], expected a number, or a list of two equal ones"},
      {{{"patch_size", json::array()}}, "patch_size is []"},
      {{{"patch_size", {0, 0}}}, "patch_size is 0"},
      {{{"patch_size", "4"}}, "patch_size is \"4\""},
      {{{"spec_size", 250}}, "spec_size 250 is no multiple of num_mel_bins 64"},
      {{{"spec_size", 1u << 20}}, "spec_size is 1048576"},
      {{{"num_mel_bins", 2}}, "num_mel_bins 2 is no multiple of patch_size 4"},
      {{{"num_mel_bins", 8}}, "has 8 lines of patches, which are not those of 32 parts"},
      {{{"window_size", 7}}, "window_size 7: a stage of 64 x 64 patches would be filled up"},
      {{{"window_size", 16}}, "window_size 16: a stage of 8 x 8 patches would be filled up"},
      {{{"depths", {2, 2}}}, "depths has 2 stages, num_attention_heads 4"},
      {{{"num_attention_heads", {5, 8, 16, 32}}},
       "patch_embeds_hidden_size: a stage of width 96 with 5 heads"},
      {{{"hidden_size", 512}}, "hidden_size is 512, the last stage's is 768"},
      {{{"layer_norm_eps", 1e-6}}, "layer_norm_eps is"},
      {{{"hidden_act", "mish"}}, "\"mish\""},
      {{{"projection_hidden_act", "mish"}}, "\"mish\""},
      {{{"projection_dim", 0}}, "projection_dim is 0"},
  };
  for (const auto& [changes, message] : cases) {
    const std::string refusal = clap_refusal(clap_audio(changes));
    CAPTURE(refusal, message);
    TEST_ASSERT_TRUE(contains(refusal, message));
  }
  const json text = {{"model_type", "clap_text_model"}};
  for (const char* key : {"pad_token_id", "vocab_size", "hidden_size"}) {
    json keys = text;
    keys[key] = nullptr;
    TEST_ASSERT_TRUE(contains(clap_refusal(keys), std::string(key) + " is null"));
  }
}

TEST("clap: a whole model asks for a tower that it has, and refuses objects of its towers by their keys") {
  const json whole = {{"model_type", "clap"}};
  for (const char* tower : {"", "vision"})
    TEST_ASSERT_TRUE(contains(clap_refusal(whole, tower), "choose --tower audio or --tower text"));
  json keys = whole;
  keys["audio_config"] = {{"enable_fusion", true}};
  TEST_ASSERT_TRUE(contains(clap_refusal(keys, "audio"), "enable_fusion is true"));
  keys["audio_config"] = 3;
  TEST_ASSERT_TRUE(contains(clap_refusal(keys, "audio"), "audio_config is 3, expected an object"));
  keys = whole;
  keys["text_config"] = {{"position_embedding_type", "relative_key"}};
  TEST_ASSERT_TRUE(
      contains(clap_refusal(keys, "text"), "position_embedding_type relative_key is not supported"));
  TEST_ASSERT_EQUAL_STRING("", clap_refusal(whole, "text"));
}
