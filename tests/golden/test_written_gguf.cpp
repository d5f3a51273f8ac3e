// SPDX-License-Identifier: Apache-2.0
//
// Every GGUF of tests/written/gguf, which llama.cpp's converter wrote of transformers' models, to the outputs
// of transformers.
#include <nlohmann/json.hpp>

#include "converter/error.h"
#include "converter/readers/readers.h"
#include "converter/readers/safetensors.h"
#include "tests/support/encode.h"
#include "tests/support/files.h"
#include "tests/support/gguf_builder.h"

namespace mote::testing {
namespace {

using convert::SafetensorsFile;

std::filesystem::path written_folder() {
  return std::filesystem::path(MOTE_SOURCE_DIR) / "tests/written/gguf";
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

/// What the model gives for the stored ids: logits, one vector of the text, or a row for each token.
std::vector<float> values_of(const test::OpenModel& model, const std::vector<int32_t>& ids, bool logits) {
  if (!logits) {
    const test::OpenSession session(model, test::options_for(model, 1));
    return test::encode(session.get(), test::output_of(model), {ids});
  }
  mote_session_options options = mote_session_options_default(model.get());
  options.context = options.chunk = options.logit_rows = static_cast<uint32_t>(ids.size());
  const test::OpenSession session(model, options);
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
  TEST_ASSERT_GREATER_OR_EQUAL(30u, kinds.size());
  for (const std::string& kind : kinds) {
    CAPTURE(kind);
    convert::ConvertOptions options;
    options.type = "f32";
    const test::AlignedBytes file =
        test::kept_conversion("written_" + kind, written_folder() / (kind + ".gguf"), options);
    const test::OpenModel model(file);
    const SafetensorsFile golden(written_folder() / (kind + ".safetensors"));
    const std::vector<int64_t> stored = golden.i64("input_ids");
    const bool logits = golden.has("logits");
    const std::vector<float> expected = golden.f32(logits                 ? "logits"
                                                   : golden.has("pooled") ? "pooled"
                                                                          : "last_hidden_state");
    const std::vector<float> values = values_of(model, {stored.begin(), stored.end()}, logits);
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
  const convert::Source source = convert::read_gguf(as_bytes(file), "dir/m.gguf");
  const auto refusal = [&](const std::vector<std::string>& ignored) {
    return message_of<convert::Error>([&] { convert::refuse_unread_keys(source, "dir/m.gguf", ignored); });
  };
  TEST_ASSERT_NOT_NULL(std::strstr(refusal({}).c_str(),
                                   "llama.attention.causal, llama.rope.scaling.alpha are not understood"));
  TEST_ASSERT_NOT_NULL(
      std::strstr(refusal({"llama.attention.causal"}).c_str(), "llama.rope.scaling.alpha is not understood"));
  const std::vector<std::string> rest = convert::refuse_unread_keys(
      source, "dir/m.gguf", {"llama.attention.causal", "llama.rope.scaling.alpha", "other"});
  TEST_ASSERT_TRUE(rest == std::vector<std::string>{"other"});
}

TEST("gguf: a key that llama.cpp does not read of an architecture is noted and changes nothing") {
  auto builder = bare_llama().key("llama.final_logit_softcapping", 30.0f);
  const std::string file = builder.bytes();
  const convert::Source source = convert::read_gguf(as_bytes(file), "dir/m.gguf");
  TEST_ASSERT_TRUE(source.unread_keys.empty());
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

}  // namespace mote::testing
