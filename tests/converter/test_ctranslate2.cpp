// SPDX-License-Identifier: Apache-2.0
#include "converter/readers/ctranslate2.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/architecture.h"
#include "converter/config.h"
#include "converter/readers/safetensors.h"
#include "host/base/error.h"
#include "tests/support/ct2_builder.h"
#include "tests/support/files.h"
#include "tests/support/golden.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::testing;
using nlohmann::json;

namespace {

const std::vector<std::string> kTokens = {"<unk>", "<s>", "</s>", "a", "b"};

/// The file's bytes and what was made of them, which points into them.
struct Ct2Case {
  std::string bytes;
  Source source;
  Ct2Case(const Ct2Builder& builder, const json& settings = json::object()) : bytes(builder.bytes()) {
    source = translate_ctranslate2(parse_ctranslate2(as_bytes(bytes), "m"), settings, kTokens, "m");
  }
};

std::vector<float> row_of(const Source& source, const std::string& name, uint64_t row) {
  const SourceTensor& tensor = source.tensors.at(name);
  std::vector<float> values(tensor.cols());
  read_row(tensor, row, values);
  return values;
}

std::string ct2_error(const Ct2Builder& builder, const json& settings = json::object()) {
  return message_of<Error>([&] { Ct2Case(builder, settings); });
}

}  // namespace

TEST("ctranslate2: versions 2 to 6 give the same tensors and config") {
  const Ct2Case expected(small_ct2_marian(6));
  for (const uint32_t version : {2u, 3u, 4u, 5u}) {
    CAPTURE(version);
    const Ct2Builder builder = small_ct2_marian(version);
    TEST_ASSERT_TRUE(is_ctranslate2(as_bytes(builder.bytes())));
    const Ct2Case found(builder);
    TEST_ASSERT_TRUE(*found.source.config == *expected.source.config);
    TEST_ASSERT_EQUAL_UINT64(expected.source.tensors.size(), found.source.tensors.size());
    for (const auto& [name, tensor] : expected.source.tensors) {
      CAPTURE(name);
      TEST_ASSERT_TRUE(found.source.tensors.at(name).shape == tensor.shape);
      TEST_ASSERT_TRUE(row_of(found.source, name, 0) == row_of(expected.source, name, 0));
    }
  }
}

TEST("ctranslate2: fused projections are cut, and Marian starts from a row of zeros that no output is") {
  const Ct2Case one(small_ct2_marian(6));
  const Source& source = one.source;
  const std::string layer = "model.decoder.layers.0.";
  TEST_ASSERT_TRUE(row_of(source, layer + "self_attn.q_proj.weight", 0)[0] == 1);
  TEST_ASSERT_TRUE(row_of(source, layer + "self_attn.k_proj.weight", 1)[0] == 1 + 16 + 4);
  TEST_ASSERT_TRUE(row_of(source, layer + "encoder_attn.v_proj.weight", 0)[3] == 1 + 16 + 3);
  TEST_ASSERT_TRUE(row_of(source, layer + "encoder_attn.v_proj.bias", 0)[0] == 5);
  TEST_ASSERT_TRUE(row_of(source, layer + "final_layer_norm.bias", 0)[0] == 1);
  TEST_ASSERT_TRUE(row_of(source, "model.shared.weight", kCt2Vocab) == std::vector<float>(kCt2Width));
  const std::vector<float> bias = row_of(source, "final_logits_bias", 0);
  TEST_ASSERT_EQUAL_UINT64(kCt2Vocab + 1, bias.size());
  TEST_ASSERT_TRUE(bias[0] == 0 && bias[kCt2Vocab] < -1e20f);
  const json& config = *source.config;
  TEST_ASSERT_EQUAL_STRING("marian", config.at("model_type").get<std::string>());
  TEST_ASSERT_EQUAL_UINT32(kCt2Vocab + 1, config.at("vocab_size").get<uint32_t>());
  TEST_ASSERT_EQUAL_UINT32(kCt2Vocab, config.at("decoder_start_token_id").get<uint32_t>());
  TEST_ASSERT_EQUAL_UINT32(8, config.at("max_position_embeddings").get<uint32_t>());
  TEST_ASSERT_TRUE(config.at("scale_embedding").get<bool>());
  TEST_ASSERT_EQUAL_STRING("silu", config.at("activation_function").get<std::string>());
  TEST_ASSERT_TRUE(source.stop_ids == std::vector<int32_t>{2});
}

TEST("ctranslate2: integers are numbers over their scale, int8 by rows as they are") {
  Ct2Builder builder = small_ct2_marian(6);
  std::string bytes, words, scales;
  for (int8_t i = 0; i < 20; ++i) bytes += raw<int8_t>(static_cast<int8_t>(10 * i - 100));
  for (int i = 0; i < 20; ++i) words += raw<int16_t>(static_cast<int16_t>(i * 50));
  for (int i = 0; i < 5; ++i) scales += raw(static_cast<float>(i + 1));
  Ct2File file = parse_ctranslate2(as_bytes(builder.bytes()), "m");
  const Ct2Variable rows{Ct2Type::i8, {5, 4}, as_bytes(bytes)}, halves{Ct2Type::i16, {5, 4}, as_bytes(words)};
  const std::string four = raw(4.0f);
  file.variables["w"] = rows;
  file.variables["w_scale"] = {Ct2Type::f32, {5}, as_bytes(scales)};
  file.variables["h"] = halves;
  file.variables["h_scale"] = {Ct2Type::f32, {}, as_bytes(four)};
  Ct2Variables variables(file, "m");
  const SourceTensor w = variables.tensor("w"), h = variables.tensor("h");
  TEST_ASSERT_TRUE(w.type == SourceType::int8_rows);
  std::vector<float> row(4);
  read_row(w, 1, row);
  TEST_ASSERT_TRUE(row == std::vector<float>({-30, -25, -20, -15}));
  QuantRow exact;
  read_exact_row(w, 4, exact);
  TEST_ASSERT_EQUAL_INT32(60, exact.q[0]);
  TEST_ASSERT_TRUE(exact.row_scale == 1.0f / 5);
  read_row(h, 2, row);
  TEST_ASSERT_TRUE(row == std::vector<float>({100, 112.5f, 125, 137.5f}));
  read_row(ct2_padded(w, 2, 1), 3, row);
  TEST_ASSERT_TRUE(row == std::vector<float>({-30, -25, -20, -15}));
}

TEST("ctranslate2: a file of int8 has the golden model's weights to half a step, kept exactly") {
  const auto folder = ::test::golden_folder() / "../ctranslate2/marian.int8";
  const Source source = read_source(folder);
  const SafetensorsFile golden(::test::golden_folder() / "marian/model.safetensors");
  const Source original = read_source(::test::golden_folder() / "marian");
  TEST_ASSERT_TRUE(source.packed);
  size_t exact = 0;
  for (const auto& [name, tensor] : source.tensors) {
    if (tensor.type != SourceType::int8_rows) continue;
    CAPTURE(name);
    ++exact;
    for (uint64_t row = 0; row < tensor.rows(); ++row) {
      const std::vector<float> found = row_of(source, name, row), expected = row_of(original, name, row);
      float most = 0;
      for (const float value : expected) most = std::max(most, std::fabs(value));
      for (size_t k = 0; k < found.size(); ++k)
        TEST_ASSERT_FLOAT_WITHIN(most / 254 * 1.0001f, expected[k], found[k]);
    }
  }
  TEST_ASSERT_EQUAL_UINT64(1 + 2 * 6 + 2 * 10, exact);
}

TEST("ctranslate2: positions that the file leaves out are OpenNMT's sines from 1 on") {
  Ct2Builder builder;
  for (const std::string side : {"encoder", "decoder"}) {
    add_ct2_layer(builder, side);
    builder.number(side + "/num_heads", kCt2Heads).floats(side + "/layer_norm/gamma", {kCt2Width});
    builder.floats(side + "/layer_norm/beta", {kCt2Width});
  }
  builder.floats("decoder/embeddings/weight", {kCt2Vocab, kCt2Width});
  builder.alias("encoder/embeddings_0/weight", "decoder/embeddings/weight");
  builder.alias("decoder/projection/weight", "decoder/embeddings/weight");
  const Ct2Case one(builder);
  TEST_ASSERT_EQUAL_STRING("m2m_100", one.source.config->at("model_type").get<std::string>());
  TEST_ASSERT_EQUAL_INT32(1, one.source.config->at("decoder_start_token_id").get<int>());
  const std::vector<float> row = row_of(one.source, "model.encoder.embed_positions.weight", 2);
  const float expected[] = {std::sin(3.0f), std::sin(3e-4f), std::cos(3.0f), std::cos(3e-4f)};
  TEST_ASSERT_FLOAT_ARRAY_WITHIN(1e-6, expected, row.data(), 4);
}

TEST("ctranslate2: what is not understood is refused by name") {
  Ct2Builder builder = small_ct2_marian(6);
  builder.spec = "TransformerDecoderSpec";
  TEST_ASSERT_TRUE(contains(ct2_error(builder), "TransformerDecoderSpec is not read"));
  builder = small_ct2_marian(6);
  builder.revision = 8;
  TEST_ASSERT_TRUE(contains(ct2_error(builder), "revision 8"));
  builder = small_ct2_marian(6);
  builder.floats("encoder/layer_0/self_attention/relative_position_keys", {3, 2});
  TEST_ASSERT_TRUE(contains(ct2_error(builder), "relative_position_keys"));
  builder = small_ct2_marian(6);
  builder.number("decoder/alibi", 1);
  TEST_ASSERT_TRUE(contains(ct2_error(builder), "decoder/alibi"));
  builder = small_ct2_marian(6);
  builder.floats("decoder/layer_norm/gamma", {kCt2Width});
  builder.floats("encoder/layer_norm/gamma", {kCt2Width});
  TEST_ASSERT_TRUE(contains(ct2_error(builder), "no architecture has norms"));
  TEST_ASSERT_TRUE(contains(ct2_error(small_ct2_marian(6), {{"future", 1}}), "future"));
  std::string bytes = small_ct2_marian(6).bytes();
  bytes[0] = 7;
  TEST_ASSERT_FALSE(is_ctranslate2(as_bytes(bytes)));
  TEST_ASSERT_TRUE(contains(message_of<Error>([&] { parse_ctranslate2(as_bytes(bytes), "m"); }), "format 7"));
}

TEST("ctranslate2: a file that is cut anywhere, or whose bytes are not its shape's, is refused") {
  const std::string bytes = small_ct2_marian(4).bytes();
  for (size_t size = 0; size < bytes.size(); size += size < 200 ? 1 : 97) {
    CAPTURE(size);
    const std::string cut = bytes.substr(0, size);
    TEST_ASSERT_FALSE(message_of<Error>([&] { parse_ctranslate2(as_bytes(cut), "m"); }).empty());
  }
  Ct2Builder builder;
  builder.variable("w", {3, 1u << 31, 1u << 31, 4}, 0, "1234");
  TEST_ASSERT_TRUE(contains(ct2_error(builder), "its shape does not"));
  builder = small_ct2_marian(6).alias("x", "nothing");
  TEST_ASSERT_TRUE(contains(ct2_error(builder), "stands for nothing"));
}
