// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "converter/readers/readers.h"
#include "host/base/error.h"
#include "tests/support/files.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::testing;

namespace {

constexpr int32_t kDim = 4, kHidden = 6, kLayers = 2, kHeads = 2, kKvHeads = 1, kVocab = 5, kContext = 3;

std::string shape(int32_t vocab) {
  std::string text;
  for (const int32_t value : {kDim, kHidden, kLayers, kHeads, kKvHeads, vocab, kContext}) text += raw(value);
  return text;
}

/// Consecutive numbers from 0, so that a tensor's first value is its offset in floats.
std::string floats(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += raw(static_cast<float>(i));
  return text;
}

// Per layer: two norms, q and o, k and v of one head of 2, three FFN matrices.
constexpr size_t kLayerFloats = 2 * 4 + 2 * 16 + 2 * 8 + 3 * 24;
constexpr size_t kTiedFloats = 20 + 2 * kLayerFloats + 4;
constexpr size_t kRopeFloats = 3 * 2;

std::string first_format(bool tied) {
  return shape(tied ? kVocab : -kVocab) + floats(kTiedFloats + kRopeFloats + (tied ? 0 : 20));
}

std::string versioned(int32_t version, bool tied) {
  std::string header = raw(0x616b3432) + raw(version) + shape(kVocab) + raw<uint8_t>(tied);
  header.resize(256, '\0');
  return header + floats(kTiedFloats + (tied ? 0 : 20));
}

float first(const Source& source, const std::string& name) {
  const SourceTensor& tensor = source.tensors.at(name);
  std::vector<float> row(tensor.cols());
  read_row(tensor, 0, row);
  return row[0];
}

std::string llama2c_error_of(const std::string& file) {
  return message_of<Error>([&] { read_llama2c(as_bytes(file), "m.bin"); });
}

}  // namespace

TEST("llama2c: the first format's tensors lie in its order, the RoPE tables skipped") {
  const std::string file = first_format(false);
  TEST_ASSERT_TRUE(is_llama2c(as_bytes(file)));
  const Source source = read_llama2c(as_bytes(file), "dir/m.bin");
  TEST_ASSERT_EQUAL_STRING("m", source.name);
  TEST_ASSERT_EQUAL_STRING("llama2c", source.format);
  TEST_ASSERT_EQUAL_UINT64(3 + 9 * 2, source.tensors.size());
  TEST_ASSERT_TRUE(first(source, "model.embed_tokens.weight") == 0);
  TEST_ASSERT_TRUE(first(source, "model.layers.0.input_layernorm.weight") == 20);
  TEST_ASSERT_TRUE(first(source, "model.layers.1.input_layernorm.weight") == 24);
  TEST_ASSERT_TRUE(first(source, "model.layers.0.self_attn.q_proj.weight") == 28);
  TEST_ASSERT_TRUE(first(source, "model.layers.1.self_attn.k_proj.weight") == 60 + 8);
  TEST_ASSERT_TRUE(first(source, "model.layers.0.mlp.down_proj.weight") == 20 + 8 + 96 + 8 + 48);
  TEST_ASSERT_TRUE(first(source, "model.norm.weight") == static_cast<float>(kTiedFloats - 4));
  TEST_ASSERT_TRUE(first(source, "lm_head.weight") == static_cast<float>(kTiedFloats + kRopeFloats));
  TEST_ASSERT_TRUE(source.tensors.at("model.layers.0.self_attn.k_proj.weight").shape ==
                   std::vector<uint64_t>({2, 4}));
}

TEST("llama2c: the header becomes a llama config, and q and k are interleaved") {
  const std::string file = first_format(true);
  const Source source = read_llama2c(as_bytes(file), "m.bin");
  TEST_ASSERT_EQUAL_STRING("llama", source.config->at("model_type").get<std::string>());
  TEST_ASSERT_EQUAL_INT(kHidden, source.config->at("intermediate_size").get<int>());
  TEST_ASSERT_EQUAL_INT(kKvHeads, source.config->at("num_key_value_heads").get<int>());
  TEST_ASSERT_EQUAL_INT(kVocab, source.config->at("vocab_size").get<int>());
  TEST_ASSERT_TRUE(source.config->at("tie_word_embeddings").get<bool>());
  TEST_ASSERT_TRUE(source.tensors.count("lm_head.weight") == 0);
  TEST_ASSERT_TRUE(source.stop_ids == std::vector<int32_t>({1, 2}));
  TEST_ASSERT_EQUAL_INT(2, source.tensors.at("model.layers.1.self_attn.q_proj.weight").interleaved_heads);
  TEST_ASSERT_EQUAL_INT(1, source.tensors.at("model.layers.1.self_attn.k_proj.weight").interleaved_heads);
  TEST_ASSERT_EQUAL_INT(0, source.tensors.at("model.layers.1.self_attn.v_proj.weight").interleaved_heads);
}

TEST("llama2c: version 1 has its own order") {
  const std::string file = versioned(1, false);
  TEST_ASSERT_TRUE(is_llama2c(as_bytes(file)));
  const Source source = read_llama2c(as_bytes(file), "m.bin");
  TEST_ASSERT_EQUAL_UINT64(3 + 9 * 2, source.tensors.size());
  TEST_ASSERT_TRUE(first(source, "model.layers.0.input_layernorm.weight") == 0);
  TEST_ASSERT_TRUE(first(source, "model.layers.0.post_attention_layernorm.weight") == 8);
  TEST_ASSERT_TRUE(first(source, "model.norm.weight") == 16);
  TEST_ASSERT_TRUE(first(source, "model.embed_tokens.weight") == 20);
  TEST_ASSERT_TRUE(first(source, "model.layers.1.self_attn.q_proj.weight") == 56);
  TEST_ASSERT_TRUE(first(source, "lm_head.weight") == static_cast<float>(kTiedFloats));
  TEST_ASSERT_FALSE(source.config->at("tie_word_embeddings").get<bool>());
}

TEST("llama2c: other versions, impossible sizes and wrong lengths are refused") {
  TEST_ASSERT_TRUE(llama2c_error_of(versioned(2, true)).find("version 2 (q80) is not read") !=
                   std::string::npos);
  std::string no_heads = versioned(1, true);
  no_heads[8 + 12] = 0;
  TEST_ASSERT_TRUE(llama2c_error_of(no_heads).find("impossible sizes") != std::string::npos);
  const std::string file = first_format(true);
  TEST_ASSERT_TRUE(llama2c_error_of(file + "x").find("the file has") != std::string::npos);
  std::string huge = file;
  const int32_t dim = 1 << 20;  // terabytes, by the header
  std::copy_n(raw(dim).data(), 4, huge.data());
  TEST_ASSERT_TRUE(llama2c_error_of(huge).find("the file has") != std::string::npos);
}

TEST("llama2c: any cut and any changed byte is an error or a model inside the file") {
  for (const std::string& whole : {first_format(true), versioned(1, false)}) {
    // Every weight is as good as another: what counts is the header and the length.
    for (size_t size = 0; size < whole.size(); ++size) {
      TEST_ASSERT_FALSE(llama2c_error_of(whole.substr(0, size)).empty());
    }
    const std::string header = whole.substr(0, 40);
    for_each_damage(header, [&](std::span<const std::byte> damaged) {
      if (damaged.size() < header.size()) return;
      std::string file = whole;
      std::copy_n(reinterpret_cast<const char*>(damaged.data()), damaged.size(), file.data());
      Source source;
      if (is_llama2c(as_bytes(file)) &&
          message_of<Error>([&] { source = read_llama2c(as_bytes(file), "m"); }).empty()) {
        for (const auto& [name, tensor] : source.tensors) {
          std::vector<float> row(tensor.cols());
          read_row(tensor, tensor.rows() - 1, row);
        }
      }
    });
  }
}
