// SPDX-License-Identifier: Apache-2.0
//
// Every GGUF of tests/written/gguf, which llama.cpp's converter wrote of transformers' models, to the outputs
// of transformers.
#include <nlohmann/json.hpp>

#include "converter/readers/readers.h"
#include "converter/readers/safetensors.h"
#include "host/base/error.h"
#include "tests/support/encode.h"
#include "tests/support/files.h"
#include "tests/support/gguf_builder.h"

namespace mote::testing {
namespace {

using convert::SafetensorsFile;
using StoredIds = std::vector<int32_t>;

std::filesystem::path written_folder() {
  return std::filesystem::path(MOTE_SOURCE_DIR) / "tests/written/gguf";
}

StoredIds stored_ids(const SafetensorsFile& golden, const std::string& name) {
  if (!golden.has(name)) return {};
  const std::vector<int64_t> ids = golden.i64(name);
  return {ids.begin(), ids.end()};
}

std::vector<std::string> written_kinds() {
  std::vector<std::string> kinds;
  for (const auto& entry : std::filesystem::directory_iterator(written_folder()))
    if (entry.path().extension() == ".gguf") kinds.push_back(entry.path().stem());
  std::sort(kinds.begin(), kinds.end());
  return kinds;
}

double written_tolerance(const std::string& kind) {
  std::ifstream in(written_folder() / "written.json");
  return nlohmann::json::parse(in).at("kinds").at(kind).at("tolerance").get<double>();
}

/// Runs a source of ids before a decoder.
void encode_stored(mote_session* session, const StoredIds& ids) {
  std::vector<mote_row> rows;
  for (const int32_t id : ids) rows.push_back({0, id, 0, 1});
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  call.program = 1;
  REQUIRE(mote_compute(session, &call, nullptr) == MOTE_OK);
}

/// What the model gives for the stored ids: logits, one vector of the text, or a row for each token. `source`
/// is of an encoder-decoder.
std::vector<float> values_of(const test::OpenModel& model, const StoredIds& source, const StoredIds& ids,
                             bool logits) {
  if (!logits) {
    const test::OpenSession session(model, test::options_for(model, 1));
    return test::encode(session.get(), test::output_of(model), {ids});
  }
  mote_session_options options = mote_session_options_default(model.get());
  options.context = options.chunk = options.logit_rows =
      static_cast<uint32_t>(std::max(source.size(), ids.size()));
  const test::OpenSession session(model, options);
  if (!source.empty()) encode_stored(session.get(), source);
  const auto count = static_cast<uint32_t>(ids.size());
  REQUIRE(mote_prefill(session.get(), 0, ids.data(), count, MOTE_LOGITS_ALL, nullptr) == MOTE_OK);
  std::vector<float> values;
  for (uint32_t i = 0; i < count; ++i) {
    const float* row = mote_session_logits(session.get(), i);
    values.insert(values.end(), row, row + model.info().vocab);
  }
  return values;
}

}  // namespace

TEST("every GGUF that llama.cpp's converter wrote gives the numbers of the model it was written of") {
  const std::vector<std::string> kinds = written_kinds();
  TEST_ASSERT_GREATER_OR_EQUAL(47u, kinds.size());
  for (const std::string& kind : kinds) {
    CAPTURE(kind);
    convert::ConvertOptions options;
    options.type = "f32";
    const test::AlignedBytes file =
        test::kept_conversion("written_" + kind, written_folder() / (kind + ".gguf"), options);
    const test::OpenModel model(file);
    const SafetensorsFile golden(written_folder() / (kind + ".safetensors"));
    const StoredIds first = stored_ids(golden, "input_ids"),
                    targets = stored_ids(golden, "decoder_input_ids");
    const bool logits = golden.has("logits");
    const std::vector<float> expected = golden.f32(logits                 ? "logits"
                                                   : golden.has("pooled") ? "pooled"
                                                                          : "last_hidden_state");
    const std::vector<float> values =
        targets.empty() ? values_of(model, {}, first, logits) : values_of(model, first, targets, logits);
    TEST_ASSERT_EQUAL_UINT32(expected.size(), values.size());
    TEST_ASSERT_FLOAT_ARRAY_WITHIN(written_tolerance(kind), expected.data(), values.data(), expected.size());
  }
}

namespace {

GgufBuilder bare_llama() {
  GgufBuilder builder;
  builder.key("general.architecture", "llama").key("llama.embedding_length", 8u).key("llama.block_count", 1u);
  builder.key("llama.feed_forward_length", 12u).key("llama.context_length", 64u);
  builder.key("llama.attention.head_count", 2u).key("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  return builder;
}

}  // namespace

TEST(
    "gguf: all keys that llama.cpp reads and mote does not are refused at once, but those that are ignored") {
  auto builder = bare_llama().key("llama.attention.causal", false).key("llama.rope.scaling.alpha", 2.0f);
  const std::string file = builder.bytes();
  const auto refusal = [&](const std::vector<std::string>& ignored) {
    return message_of<convert::Error>([&] { convert::read_gguf(as_bytes(file), "dir/m.gguf", ignored); });
  };
  TEST_ASSERT_NOT_NULL(std::strstr(refusal({}).c_str(),
                                   "llama.attention.causal, llama.rope.scaling.alpha are not understood"));
  TEST_ASSERT_NOT_NULL(
      std::strstr(refusal({"llama.attention.causal"}).c_str(), "llama.rope.scaling.alpha is not understood"));
  const convert::Source source = convert::read_gguf(
      as_bytes(file), "dir/m.gguf", {"llama.attention.causal", "llama.rope.scaling.alpha", "other"});
  const std::set<std::string> both = {"llama.attention.causal", "llama.rope.scaling.alpha"};
  TEST_ASSERT_TRUE(source.met_keys == both);
}

TEST("gguf: a key that llama.cpp does not read of an architecture is noted and changes nothing") {
  auto builder = bare_llama().key("llama.final_logit_softcapping", 30.0f);
  const std::string file = builder.bytes();
  const convert::Source source = convert::read_gguf(as_bytes(file), "dir/m.gguf");
  TEST_ASSERT_EQUAL_UINT64(1, source.notes.size());
  TEST_ASSERT_NOT_NULL(std::strstr(source.notes[0].c_str(), "llama.final_logit_softcapping"));
}

TEST("gguf: merged gates and ups of experts come apart") {
  auto builder = bare_llama().key("llama.expert_count", 2u).key("llama.expert_used_count", 1u);
  std::vector<float> values(2 * 24 * 8);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const std::string file = builder.stack("blk.0.ffn_gate_up_exps.weight", 2, 24, 8, values).bytes();
  const convert::Source source = convert::read_gguf(as_bytes(file), "dir/m.gguf");
  const std::string prefix = "model.layers.0.block_sparse_moe.experts.1.";
  std::vector<float> row(8);
  const convert::SourceTensor& up = source.tensors.at(prefix + "w3.weight");
  TEST_ASSERT_TRUE(up.shape == std::vector<uint64_t>({12, 8}));
  read_row(up, 0, row);
  TEST_ASSERT_EQUAL_FLOAT(36.0f * 8, row[0]);
  read_row(source.tensors.at(prefix + "w1.weight"), 1, row);
  TEST_ASSERT_EQUAL_FLOAT(25.0f * 8, row[0]);
}

TEST("gguf: more layers than any model has are refused before anything is made of them") {
  for (const char* family : {"gemma3", "t5", "lfm2"}) {
    GgufBuilder builder;
    builder.key("general.architecture", family);
    builder.key(family + std::string(".block_count"), 2000000000u);
    const std::string file = builder.bytes();
    const std::string message =
        message_of<convert::Error>([&] { convert::read_gguf(as_bytes(file), "dir/m.gguf"); });
    TEST_ASSERT_NOT_NULL(std::strstr(message.c_str(), "block_count is 2000000000, at most"));
  }
}

TEST("gguf: a merged bias in blocks does not come apart") {
  auto builder = bare_llama();
  builder.tensor("blk.0.attn_qkv.bias", {96}, 8, std::string(3 * 34, '\1'));  // Q8_0
  const std::string file = builder.bytes();
  const std::string message =
      message_of<convert::Error>([&] { convert::read_gguf(as_bytes(file), "dir/m.gguf"); });
  TEST_ASSERT_NOT_NULL(std::strstr(message.c_str(), "blk.0.attn_qkv.bias of 96 rows does not divide"));
}

TEST("gguf: a T5 whose output matrix is the embedding again is tied, and its logits are scaled") {
  for (const bool same : {true, false}) {
    GgufBuilder builder;
    builder.key("general.architecture", "t5").key("t5.block_count", 1u).key("t5.embedding_length", 8u);
    builder.key("t5.feed_forward_length", 8u)
        .key("t5.context_length", 16u)
        .key("t5.attention.head_count", 2u);
    builder.key("t5.attention.key_length", 4u).key("t5.attention.layer_norm_rms_epsilon", 1e-6f);
    builder.key("t5.attention.relative_buckets_count", 8u);
    std::vector<float> values(24, 1.0f);
    builder.matrix("token_embd.weight", 3, 8, values);
    if (!same) values.back() = 2.0f;
    const std::string file = builder.matrix("output.weight", 3, 8, values).bytes();
    const convert::Source source = convert::read_gguf(as_bytes(file), "dir/m.gguf");
    TEST_ASSERT_EQUAL(same, source.config->at("tie_word_embeddings").get<bool>());
  }
}

}  // namespace mote::testing
