// SPDX-License-Identifier: Apache-2.0
#include "converter/architectures/shared/architecture.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/config_keys.h"
#include "converter/convert.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote;
using namespace mote::convert;
using mote::testing::contains;
using mote::testing::message_of;
using nlohmann::json;

namespace {

RopeSpec rope_of(const json& keys, uint32_t head_dim = 16, uint32_t context = 128) {
  Config config(keys);
  RopeSpec rope = read_rope(config, head_dim, context, {});
  config.finish();
  config.check_keys();
  return rope;
}

std::string rope_error(const json& keys, uint32_t head_dim = 16) {
  return message_of<Error>([&] { rope_of(keys, head_dim); });
}

/// Two units in the last place: torch's pow rounds differently from the C library's.
void check_frequencies(const std::vector<float>& expected, const RopeSpec& rope) {
  TEST_ASSERT_EQUAL_UINT64(expected.size(), rope.frequencies.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    TEST_ASSERT_FLOAT_WITHIN(expected[i] * 2.4e-7f, expected[i], rope.frequencies[i]);
  }
}

json llama_config() {
  return {{"model_type", "llama"},  {"vocab_size", 100},        {"hidden_size", 32},
          {"num_hidden_layers", 3}, {"num_attention_heads", 4}, {"intermediate_size", 60},
          {"hidden_act", "silu"},   {"rms_norm_eps", 1e-6},     {"max_position_embeddings", 64},
          {"rope_theta", 10000.0}};
}

TransformerSpec spec_of(const json& keys) {
  Source source;
  source.format = "hf";
  source.config = std::make_shared<const json>(keys);
  Config config(*source.config);
  const TransformerSpec spec = find_architecture(config).read(source, config);
  config.finish();
  config.check_keys();
  return spec;
}

std::string spec_error(const json& keys) {
  return message_of<Error>([&] { spec_of(keys); });
}

std::vector<uint32_t> windows_of(const json& keys) {
  std::vector<uint32_t> windows;
  for (const LayerSpec& layer : spec_of(keys).layers) windows.push_back(layer.attention.window);
  return windows;
}

json with(json config, const std::string& key, const json& value) {
  config[key] = value;
  return config;
}

}  // namespace

// The numbers below are torch's, from transformers' modeling_rope_utils.

TEST("architectures: rope frequencies, linear") {
  const std::vector<float> expected = {0x1.99999ap-2f, 0x1.030dc4p-3f, 0x1.47ae14p-5f, 0x1.9e7c7p-7f,
                                       0x1.0624dcp-8f, 0x1.4b96cp-10f, 0x1.a36e3p-12f, 0x1.094566p-13f};
  check_frequencies(
      expected, rope_of({{"rope_theta", 10000.0}, {"rope_scaling", {{"type", "linear"}, {"factor", 2.5}}}}));
  check_frequencies(
      expected,
      rope_of({{"rope_parameters", {{"rope_theta", 10000.0}, {"rope_type", "linear"}, {"factor", 2.5}}}}));
}

TEST("architectures: rope frequencies, llama3") {
  const json scaling = {{"rope_type", "llama3"},
                        {"factor", 8.0},
                        {"low_freq_factor", 1.0},
                        {"high_freq_factor", 4.0},
                        {"original_max_position_embeddings", 64}};
  check_frequencies({1.0f, 0x1.f47fe8p-3f, 0x1.ab5e6p-7f, 0x1.030dc6p-8f, 0x1.47ae14p-10f, 0x1.9e7c7p-12f,
                     0x1.0624dep-13f, 0x1.4b96cp-15f},
                    rope_of({{"rope_theta", 10000.0}, {"rope_scaling", scaling}}));
}

TEST("architectures: rope frequencies and attention factor, yarn") {
  const RopeSpec plain =
      rope_of({{"rope_parameters",
                {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 32}}}});
  check_frequencies({1.0f, 0x1.94c584p-3f, 0x1.99999ap-6f, 0x1.030dc6p-7f, 0x1.47ae14p-9f, 0x1.9e7c7p-11f,
                     0x1.0624dep-12f, 0x1.4b96cp-14f},
                    plain);
  TEST_ASSERT_EQUAL_FLOAT(1.138629436f, plain.scale);
  const RopeSpec full = rope_of({{"rope_parameters",
                                  {{"rope_type", "yarn"},
                                   {"factor", 4.0},
                                   {"original_max_position_embeddings", 32},
                                   {"truncate", false},
                                   {"beta_fast", 16.0},
                                   {"beta_slow", 2.0},
                                   {"mscale", 0.8},
                                   {"mscale_all_dim", 0.5}}}});
  check_frequencies({1.0f, 0x1.43d136p-4f, 0x1.99999ap-6f, 0x1.030dc6p-7f, 0x1.47ae14p-9f, 0x1.9e7c7p-11f,
                     0x1.0624dep-12f, 0x1.4b96cp-14f},
                    full);
  TEST_ASSERT_EQUAL_FLOAT(1.038892975f, full.scale);
}

TEST("architectures: divisors of a file divide the frequencies") {
  const json keys = {{"rope_theta", 10000.0}};
  Config config(keys);
  const std::vector<float> divisors = {1, 2, 4, 8};
  const RopeSpec rope = read_rope(config, 8, 64, divisors);
  TEST_ASSERT_EQUAL_FLOAT(0.1f / 2, rope.frequencies[1]);
  TEST_ASSERT_EQUAL_FLOAT(0.001f / 8, rope.frequencies[3]);
}

TEST("architectures: rope that is not understood is refused by name") {
  TEST_ASSERT_TRUE(contains(rope_error({{"rope_scaling", {{"rope_type", "spiral"}}}}), "\"spiral\""));
  TEST_ASSERT_TRUE(
      contains(rope_error({{"rope_scaling", {{"type", "linear"}}}}), "rope_parameters.factor is missing"));
  TEST_ASSERT_TRUE(
      contains(rope_error({{"rope_scaling", {{"type", "linear"}, {"factor", 0.0}}}}), "factor 0"));
  TEST_ASSERT_TRUE(
      contains(rope_error({{"rope_scaling", {{"type", "linear"}, {"factor", 2.0}, {"twist", 1}}}}),
               "rope_parameters.twist"));
  TEST_ASSERT_TRUE(contains(rope_error({{"rope_theta", -1.0}}), "rope_theta is -1"));
  TEST_ASSERT_TRUE(contains(rope_error({{"rope_theta", "big"}}), "rope_parameters.rope_theta"));
  TEST_ASSERT_TRUE(contains(rope_error({{"rope_theta", 5.0}, {"rope_parameters", {{"rope_theta", 6.0}}}}),
                            "rope_theta is 5.0"));
  TEST_ASSERT_TRUE(contains(rope_error({{"rope_theta", 10000.0}}, 7), "head_dim 7 is odd"));
  TEST_ASSERT_TRUE(contains(rope_error({{"rope_parameters", 3}}), "expected an object"));
}

TEST("architectures: sizes come from the config and heads default to it") {
  const TransformerSpec spec = spec_of(llama_config());
  TEST_ASSERT_EQUAL_UINT64(3, spec.layers.size());
  TEST_ASSERT_EQUAL_UINT32(8, spec.layers[1].attention.head_dim);
  TEST_ASSERT_EQUAL_UINT32(4, spec.layers[1].attention.kv_heads);
  TEST_ASSERT_EQUAL_FLOAT(1.0f / std::sqrt(8.0f), spec.layers[2].attention.scale);
  TEST_ASSERT_FALSE(spec.tied_embedding);
}

TEST("architectures: wrong sizes are said with their key and value") {
  TEST_ASSERT_TRUE(contains(spec_error(with(llama_config(), "hidden_size", 0)), "hidden_size is 0"));
  TEST_ASSERT_TRUE(
      contains(spec_error(with(llama_config(), "hidden_size", 33)), "not a multiple of num_attention_heads"));
  TEST_ASSERT_TRUE(
      contains(spec_error(with(llama_config(), "num_key_value_heads", 3)), "num_key_value_heads 3"));
  TEST_ASSERT_TRUE(contains(spec_error(with(llama_config(), "num_hidden_layers", uint64_t{1} << 40)),
                            "num_hidden_layers is 1099511627776"));
  TEST_ASSERT_TRUE(
      contains(spec_error(with(llama_config(), "vocab_size", "many")), "vocab_size is \"many\""));
  TEST_ASSERT_TRUE(contains(spec_error(with(llama_config(), "vocab_size", 10.5)), "vocab_size is 10.5"));
  TEST_ASSERT_TRUE(contains(spec_error(with(llama_config(), "vocab_size", nullptr)), "vocab_size is null"));
  TEST_ASSERT_TRUE(contains(spec_error(with(llama_config(), "hidden_act", "mish")), "\"mish\""));
  const std::string unknown = spec_error(with(llama_config(), "model_type", "rwkv9000"));
  TEST_ASSERT_TRUE(contains(unknown, "\"rwkv9000\" is not supported") && contains(unknown, "--list"));
  TEST_ASSERT_TRUE(unknown.size() < 200);
  TEST_ASSERT_TRUE(
      contains(spec_error(with(llama_config(), "model_type", "qwen22")), "did you mean 'qwen2'?"));
  TEST_ASSERT_TRUE(contains(spec_error(with(llama_config(), "model_type", nullptr)), "model_type is null"));
}

TEST("architectures: keys that the original reads and nobody understands are errors, harmless ones are not") {
  TEST_ASSERT_TRUE(contains(spec_error(with(llama_config(), "sliding_window", 5)),
                            "sliding_window is 5: this key is not understood"));
  TEST_ASSERT_TRUE(
      contains(spec_error(with(with(llama_config(), "sliding_window", 5), "attention_chunk_size", 7)),
               "attention_chunk_size is 7, sliding_window is 5: these keys are not understood"));
  const json unknown_class = {{"model_type", "rnn"}, {"twist", 3}};  // transformers has none
  const Config own(unknown_class);
  own.finish();
  TEST_ASSERT_TRUE(contains(message_of<Error>([&] { own.check_keys(); }), "twist is 3: this key"));
  json config = llama_config();
  config.update({{"pretraining_tp", 1},
                 {"_name_or_path", "x"},
                 {"use_cache", true},
                 {"torch_dtype", "float32"},
                 {"eos_token_id", {1, 2}},
                 {"attention_dropout", 0.1},
                 {"rope_scaling", nullptr},
                 {"new_thing", nullptr}});
  TEST_ASSERT_EQUAL_STRING("", spec_error(config));
}

TEST("architectures: keys that real configs carry change nothing") {
  const json carried = {{"pooler_fc_size", 768},
                        {"pooler_num_attention_heads", 12},
                        {"pooler_num_fc_layers", 3},
                        {"pooler_size_per_head", 128},
                        {"pooler_type", "first_token_transform"},
                        {"language", "english"},
                        {"name", "Bert"},
                        {"auto_map", {{"AutoModel", "x--y"}}},
                        {"attn_implementation", "sdpa"},
                        {"model_max_length", 512},
                        {"license", "mit"},
                        {"sentence_transformers", {{"version", "5.1.0"}}}};
  for (const char* type : {"bert", "llama"}) {
    json config = carried;
    config["model_type"] = type;
    TEST_ASSERT_EQUAL_STRING("", spec_error(config));
  }
}

TEST("architectures: what the original does not read is ignored and named, whatever its value") {
  json keys = llama_config();
  keys.update({{"pretraining_tp", 2}, {"logit_softcap", 30.0}, {"head_dim", 8}, {"mlp_bias", false}});
  Source source;
  source.config = std::make_shared<const json>(keys);
  Config config(*source.config);
  find_architecture(config).read(source, config);
  config.finish();
  config.check_keys();
  TEST_ASSERT_TRUE(config.unread() == std::vector<std::string>({"logit_softcap", "pretraining_tp"}));
}

TEST("architectures: a key of RoPE's at its default is as if it were absent, whatever the type") {
  const auto unread_of = [](const char* key, const json& value) {
    json keys = llama_config();
    keys["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 10000.0}, {key, value}};
    keys.erase("rope_theta");
    Source source;
    source.config = std::make_shared<const json>(keys);
    Config config(*source.config);
    find_architecture(config).read(source, config);
    config.finish();
    config.check_keys();
    return config.unread();
  };
  const json defaults = {{"beta_fast", 32},  {"beta_slow", 1.0},      {"mscale", 1},
                         {"truncate", true}, {"mscale_all_dim", 0.0}, {"attention_factor", 1.0}};
  for (const auto& [key, value] : defaults.items()) {
    CAPTURE(key);
    TEST_ASSERT_TRUE(unread_of(key.c_str(), value).empty());
    if (!value.is_boolean())
      TEST_ASSERT_TRUE(unread_of(key.c_str(), 7) == std::vector<std::string>({"rope_parameters." + key}));
  }
}

TEST("architectures: a key of the original's at its class's default is as if it were absent") {
  // ModernBERT reads them; mote has what they are by default.
  const OriginalKeys* keys = OriginalKeys::find("modernbert");
  REQUIRE(keys != nullptr);
  TEST_ASSERT_TRUE(keys->reads("sparse_prediction") && keys->is_default("sparse_prediction", false));
  TEST_ASSERT_FALSE(keys->is_default("sparse_prediction", true));
  TEST_ASSERT_FALSE(keys->reads("layer_norm_eps"));
  TEST_ASSERT_TRUE(OriginalKeys::find("clip.text_config")->reads("hidden_act"));
  TEST_ASSERT_NULL(OriginalKeys::find("rnn"));
}

TEST("architectures: a key is ignored at the user's word, but none that is understood or not there") {
  const auto error_of = [](json keys, const std::vector<std::string>& ignored) {
    keys["model_type"] = "llama";
    return message_of<Error>([&] {
      Config config(keys);
      config.ignore(ignored);
      find_architecture(config).read(Source{}, config);
      config.finish();
      config.check_keys();
    });
  };
  TEST_ASSERT_TRUE(
      contains(error_of({{"sliding_window", 3}}, {}), "(--ignore-key sliding_window says that it does not)"));
  TEST_ASSERT_EQUAL_STRING("", error_of({{"sliding_window", 3}}, {"sliding_window"}));
  TEST_ASSERT_EQUAL_STRING("", error_of({{"twist", 3}}, {"twist"}));  // which the original does not read
  const json rope = {{"rope_parameters", {{"twist", 3}}}};
  TEST_ASSERT_EQUAL_STRING("", error_of(rope, {}));  // nor one inside
  TEST_ASSERT_EQUAL_STRING("", error_of(rope, {"rope_parameters.twist"}));
  TEST_ASSERT_TRUE(contains(error_of({{"twist", 3}}, {"turn", "twist"}), "--ignore-key turn"));
  TEST_ASSERT_TRUE(contains(error_of({{"hidden_size", 64}}, {"hidden_size"}), "--ignore-key hidden_size"));
}

TEST("architectures: mistral has one window, none if it is null") {
  json config = with(llama_config(), "model_type", "mistral");
  config["num_key_value_heads"] = 2;
  TEST_ASSERT_TRUE(windows_of(with(config, "sliding_window", 7)) == std::vector<uint32_t>({7, 7, 7}));
  TEST_ASSERT_TRUE(windows_of(with(config, "sliding_window", nullptr)) == std::vector<uint32_t>({0, 0, 0}));
}

TEST("architectures: an absent key is what the original's config class has, null is refused or means none") {
  json mistral = with(llama_config(), "model_type", "mistral");
  mistral["num_attention_heads"] = 16;
  TEST_ASSERT_TRUE(windows_of(mistral) == std::vector<uint32_t>({4096, 4096, 4096}));
  TEST_ASSERT_EQUAL_UINT32(8, spec_of(mistral).layers[0].attention.kv_heads);
  TEST_ASSERT_TRUE(
      contains(spec_error(with(mistral, "num_key_value_heads", nullptr)), "num_key_value_heads is null"));
  json qwen = with(llama_config(), "model_type", "qwen3");
  qwen["num_key_value_heads"] = nullptr;
  TEST_ASSERT_EQUAL_UINT32(4, spec_of(qwen).layers[0].attention.kv_heads);
  TEST_ASSERT_EQUAL_UINT32(128, spec_of(qwen).layers[0].attention.head_dim);
  TEST_ASSERT_TRUE(contains(spec_error(with(qwen, "head_dim", nullptr)), "head_dim is null"));
  qwen.update({{"use_sliding_window", true}, {"max_window_layers", 2}});
  TEST_ASSERT_TRUE(windows_of(qwen) == std::vector<uint32_t>({0, 0, 4096}));
  TEST_ASSERT_TRUE(windows_of(with(qwen, "sliding_window", nullptr)) == std::vector<uint32_t>({0, 0, 0}));
  const TransformerSpec bare = spec_of({{"model_type", "llama"}, {"head_dim", nullptr}});
  TEST_ASSERT_EQUAL_UINT32(32000, bare.vocab);
  TEST_ASSERT_EQUAL_UINT32(2048, bare.context);
  TEST_ASSERT_EQUAL_UINT32(11008, bare.layers.at(31).ffn.width);
  TEST_ASSERT_EQUAL_UINT32(128, bare.layers[0].attention.head_dim);
  TEST_ASSERT_EQUAL_INT32(1, bare.bos_id);
  TEST_ASSERT_EQUAL_INT32(50256, spec_of({{"model_type", "gpt2"}}).bos_id);
  TEST_ASSERT_EQUAL_INT32(-1, spec_of({{"model_type", "gpt2"}, {"bos_token_id", nullptr}}).bos_id);
  TEST_ASSERT_EQUAL_UINT32(1024, spec_of({{"model_type", "gpt2"}, {"n_inner", nullptr}}).context);
  for (const char* key : {"rms_norm_eps", "tie_word_embeddings", "attention_bias", "hidden_act", "rope_theta",
                          "max_position_embeddings"}) {
    TEST_ASSERT_TRUE(contains(spec_error(with(llama_config(), key, nullptr)), std::string(key) + " is null"));
  }
}

TEST("architectures: absent keys of encoders are what the original's config classes have") {
  const std::tuple<const char*, uint32_t, uint32_t, uint32_t, uint32_t, size_t> sizes[] = {
      {"bert", 30522, 768, 12, 3072, 12},        {"roberta", 50265, 768, 12, 3072, 12},
      {"xlm-roberta", 30522, 768, 12, 3072, 12}, {"camembert", 30522, 768, 12, 3072, 12},
      {"albert", 30000, 4096, 64, 16384, 12},    {"electra", 30522, 256, 4, 1024, 12},
      {"distilbert", 30522, 768, 12, 3072, 6},   {"data2vec-text", 30522, 768, 12, 3072, 12}};
  for (const auto& [type, vocab, width, heads, ffn, layers] : sizes) {
    CAPTURE(type);
    const TransformerSpec spec = spec_of({{"model_type", type}});
    TEST_ASSERT_EQUAL_UINT32(vocab, spec.vocab);
    TEST_ASSERT_EQUAL_UINT32(width, spec.width);
    TEST_ASSERT_EQUAL_UINT32(heads, spec.layers[0].attention.heads);
    TEST_ASSERT_EQUAL_UINT32(ffn, spec.layers[0].ffn.width);
    TEST_ASSERT_EQUAL_UINT64(layers, spec.layers.size());
    TEST_ASSERT_EQUAL_UINT32(512, spec.position_rows);
  }
  TEST_ASSERT_TRUE(spec_of({{"model_type", "albert"}}).layers[0].ffn.activation == Activation::gelu_tanh);
  TEST_ASSERT_EQUAL_UINT32(128, spec_of({{"model_type", "electra"}}).embedding_width);
  TEST_ASSERT_TRUE(
      contains(spec_error({{"model_type", "roberta"}, {"pad_token_id", nullptr}}), "pad_token_id is null"));
  TEST_ASSERT_TRUE(contains(spec_error({{"model_type", "bert"}, {"type_vocab_size", nullptr}}),
                            "type_vocab_size is null"));
}

TEST("architectures: absent keys make a whole model, but for those that must be there") {
  const std::pair<const char*, const char*> needed[] = {
      {"ministral3", "rope_parameters"},
      {"apertus", "rope_parameters"},
      {"gemma4_text", "rope_parameters"},
      {"esm", "vocab_size"},
      {"jina_bert", "position_embedding_type"},
      {"perceiver", "PerceiverForMaskedLM"},
      {"wav2vec2-conformer", "position_embeddings_type"},
      {"audio-spectrogram-transformer", "ASTForAudioClassification"},
      {"parakeet_ctc", "encoder_config"},
      {"parakeet_tdt", "encoder_config"},
      {"moonshine_streaming", "encoder_config"},
      {"yolos", "architectures"},
      {"depth_anything", "architectures"},
      {"clap", "--tower"},
      {"clip", "--tower"},
      {"siglip", "--tower"},
      {"siglip2", "--tower"},
      {"transformer", "vocab_size"},
      {"t5", "relative_attention_bias"},
      {"mt5", "relative_attention_bias"},
      {"umt5", "relative_attention_bias"},
      {"t5gemma", "decoder"},
      {"rnn", "vocab_size"},
      {"attention_shaw", "vocab_size"},
      {"vision-encoder-decoder", "encoder.model_type"},
      {"lstm", "vocab_size"},
      {"gru", "vocab_size"},
      {"linear_attention", "vocab_size"},
      {"performer", "vocab_size"},
      {"transformer_xl", "vocab_size"},
      {"idefics3", "image_size"},
      {"smolvlm", "image_size"}};
  for (const std::string& type : architecture_names()) {
    CAPTURE(type);
    const auto key =
        std::find_if(std::begin(needed), std::end(needed), [&](auto& n) { return type == n.first; });
    if (key != std::end(needed)) {
      TEST_ASSERT_TRUE(contains(spec_error({{"model_type", type}}), key->second));
    } else if (type != "torch_encoder" && type != "mpnet") {
      TEST_ASSERT_EQUAL_STRING("", spec_error({{"model_type", type}}));
    }
  }
}

TEST("architectures: what would change a decoder's results and is not supported is refused by its key") {
  const std::tuple<const char*, const char*, json> refused[] = {
      {"bloom", "apply_residual_connection_post_layernorm", true},
      {"mpt", "no_bias", false},
      {"mpt", "logit_scale", 0.5},
      {"mpt", "expansion_ratio", 8},
      {"mpt", "alibi", json()},
      {"falcon", "num_ln_in_parallel_attn", 2},
      {"phi", "qk_layernorm", true},
      {"gemma", "use_bidirectional_attention", true},
      {"gemma", "hidden_act", "relu"},
      {"gemma2", "query_pre_attn_scalar", 0},
      {"granite", "logits_scaling", "x"},
      {"smollm3", "no_rope_layers", {1, 0}},
      {"exaone4", "sliding_window_pattern", "LGLG"},
      {"gpt_neo", "attention_types", {{{"global", "near"}, 12}}},
      {"gpt_neo", "attention_types", {{{"global"}, 23}}},
      {"gpt_neox", "head_dim", 3},
      {"stablelm", "partial_rotary_factor", 0.01},
      {"apertus", "hidden_act", "silu"},
      {"llama", "hidden_act", "xielu"}};
  for (const auto& [type, key, value] : refused) {
    CAPTURE(type, key);
    json config = {{"model_type", type}, {key, value}};
    if (std::string(key) == "alibi") config = {{"model_type", type}, {"attn_config", {{"alibi", false}}}};
    if (std::string(type) == "apertus") config["rope_parameters"] = {{"rope_theta", 10000.0}};
    TEST_ASSERT_TRUE(contains(spec_error(config), key));
  }
}

TEST("architectures: a RoPE that grows with texts longer than the context is the plain one within it") {
  const RopeSpec plain = rope_of({{"rope_theta", 1e4}});
  const RopeSpec grows =
      rope_of({{"rope_theta", 1e4}, {"rope_scaling", {{"rope_type", "dynamic"}, {"factor", 2.0}}}});
  TEST_ASSERT_TRUE(plain.frequencies == grows.frequencies);
}

TEST("architectures: a BitNet without quantization_config has plain linears") {
  TEST_ASSERT_FALSE(spec_of({{"model_type", "bitnet"}}).rounds_activations);
  TEST_ASSERT_TRUE(spec_of({{"model_type", "bitnet"}, {"quantization_config", {{"quant_method", "bitnet"}}}})
                       .rounds_activations);
}

TEST("architectures: both names that a class has for a size are read, and have to agree") {
  TEST_ASSERT_EQUAL_UINT32(
      16, spec_of({{"model_type", "bloom"}, {"num_attention_heads", 16}}).layers[0].attention.heads);
  TEST_ASSERT_EQUAL_UINT32(48, spec_of({{"model_type", "gpt2"}, {"n_embd", 48}, {"hidden_size", 48}}).width);
  TEST_ASSERT_TRUE(contains(spec_error({{"model_type", "gpt2"}, {"n_embd", 48}, {"hidden_size", 96}}),
                            "n_embd is 48, but hidden_size is 96"));
}

TEST(
    "architectures: a second spelling of a value that is read has to agree, unless the user says otherwise") {
  json gemma = {{"model_type", "gemma2"}, {"hidden_activation", "gelu_pytorch_tanh"}};
  TEST_ASSERT_EQUAL_STRING("", spec_error(with(gemma, "hidden_act", "gelu_pytorch_tanh")));
  TEST_ASSERT_EQUAL_STRING("", spec_error(with(gemma, "hidden_act", nullptr)));
  gemma["hidden_act"] = "relu";
  TEST_ASSERT_TRUE(
      contains(spec_error(gemma), "hidden_act is \"relu\", but hidden_activation is \"gelu_pytorch_tanh\""));
  Config config(gemma);
  config.ignore({"hidden_act"});
  Source source;
  source.config = std::make_shared<const json>(gemma);
  find_architecture(config).read(source, config);
  config.finish();
  config.check_keys();
  const json bert = {{"model_type", "modernbert"}, {"norm_eps", 1e-5}};
  TEST_ASSERT_EQUAL_STRING("", spec_error(with(bert, "layer_norm_eps", 1e-5)));
  TEST_ASSERT_TRUE(contains(spec_error(with(bert, "layer_norm_eps", 1e-12)), "norm_eps is 1e-05"));
}

TEST("architectures: a RoPE of an unknown kind, or of a key that another class reads, is refused") {
  const auto error = [](const char* type, const json& keys) {
    return spec_error({{"model_type", type}, {"rope_parameters", keys}});
  };
  TEST_ASSERT_TRUE(contains(error("llama", {{"rope_type", "spiral"}}), "\"spiral\" is not supported"));
  TEST_ASSERT_TRUE(contains(error("llama", {{"partial_rotary_factor", 0.5}}), "partial_rotary_factor"));
  TEST_ASSERT_TRUE(contains(error("gemma3_text", {{"rope_theta", 5.0}}), "rope_parameters"));
  TEST_ASSERT_TRUE(contains(
      error("phi3",
            {{"rope_type", "longrope"}, {"original_max_position_embeddings", 64}, {"long_factor", {1.0}}}),
      "long_factor"));
}

TEST("architectures: qwen2's windows follow use_sliding_window, layer_types and max_window_layers") {
  json config = with(llama_config(), "model_type", "qwen2");
  config.update({{"sliding_window", 9}, {"max_window_layers", 1}, {"num_key_value_heads", 2}});
  const std::vector<uint32_t> none = {0, 0, 0};
  TEST_ASSERT_TRUE(windows_of(config) == none);
  config["use_sliding_window"] = true;
  TEST_ASSERT_TRUE(windows_of(config) == std::vector<uint32_t>({0, 9, 9}));
  config["layer_types"] = {"sliding_attention", "full_attention", "full_attention"};
  TEST_ASSERT_TRUE(windows_of(config) == std::vector<uint32_t>({9, 0, 0}));
  config["layer_types"] = {"full_attention", "full_attention"};
  TEST_ASSERT_TRUE(contains(spec_error(config), "expected a list of 3 layers"));
  config["layer_types"] = {"full_attention", "chunked_attention", "full_attention"};
  TEST_ASSERT_TRUE(contains(spec_error(config), "chunked_attention"));
}

TEST("architectures: gpt2's scores are scaled as its keys say") {
  json config = {{"model_type", "gpt2"}, {"vocab_size", 10}, {"n_embd", 32},
                 {"n_layer", 2},         {"n_head", 2},      {"n_positions", 8}};
  TEST_ASSERT_EQUAL_FLOAT(0.25f, spec_of(config).layers[1].attention.scale);
  TEST_ASSERT_EQUAL_UINT32(128, spec_of(config).layers[1].ffn.width);
  TEST_ASSERT_TRUE(spec_of(config).transposed);
  config["scale_attn_by_inverse_layer_idx"] = true;
  TEST_ASSERT_EQUAL_FLOAT(0.125f, spec_of(config).layers[1].attention.scale);
  config["scale_attn_weights"] = false;
  TEST_ASSERT_EQUAL_FLOAT(0.5f, spec_of(config).layers[1].attention.scale);
}
