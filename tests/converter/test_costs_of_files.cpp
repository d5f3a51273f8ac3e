// SPDX-License-Identifier: Apache-2.0
//
// Files of later kinds that ask for more than their bytes are worth: refused with the limit's name.
#include <nlohmann/json.hpp>

#include "converter/architectures/shared/ctc_texts.h"
#include "converter/lora.h"
#include "converter/module_names.h"
#include "converter/onnx/onnx_model.h"
#include "converter/published_code.h"
#include "converter/readers/readers.h"
#include "converter/tokenizers/tokenizer_spec.h"
#include "host/base/work_budget.h"
#include "tests/support/checkpoint.h"
#include "tests/support/files.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/tiny_llama.h"
#include "tests/support/tokenizer_directory.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::testing;
using nlohmann::json;

namespace {

void check_is_limited(const std::string& error) {
  INFO(error);
  TEST_ASSERT_TRUE(contains(error, "takes more than") && contains(error, "the limit for so many bytes"));
}

OnnxTensor numbers_of_onnx(const std::string& name, OnnxType type, std::vector<uint64_t> dims,
                           const std::vector<std::byte>& bytes) {
  return {name, type, std::move(dims), bytes};
}

}  // namespace

TEST("a GGUF token whose every part is looked up is refused where that takes too long") {
  std::string tokens, types, scores;
  uint64_t count = 0;
  for (const std::string& token : {std::string("<unk>"), std::string("a"), std::string(1 << 20, 'a')}) {
    tokens += GgufBuilder::string(token);
    types += raw(int32_t{1});
    scores += raw(-static_cast<float>(count++));
  }
  GgufBuilder file;
  file.key("tokenizer.ggml.model", "llama").key("tokenizer.ggml.unknown_token_id", 0u);
  file.key("tokenizer.ggml.scores", 9, raw(uint32_t{6}) + raw(count) + scores);
  file.key("tokenizer.ggml.tokens", 9, raw(uint32_t{8}) + raw(count) + tokens);
  file.key("tokenizer.ggml.token_type", 9, raw(uint32_t{5}) + raw(count) + types);
  const std::string bytes = file.bytes();
  const WorkBudget budget("model.gguf", bytes.size());
  check_is_limited(message_of<Error>([&] { read_gguf_tokenizer(as_bytes(bytes), "model.gguf"); }));
}

TEST("a part of a GGUF may say any number, which is named as it is") {
  const TempDirectory folder;
  GgufBuilder file;
  file.key("split.count", 11, raw(int64_t{2})).key("split.no", 11, raw(INT64_MAX));
  write_text(folder / "model-00001-of-00002.gguf", file.bytes());
  const std::string error = message_of<Error>([&] { read_source(folder / "model-00001-of-00002.gguf"); });
  INFO(error);
  TEST_ASSERT_TRUE(contains(error, "says that it is part 9223372036854775807 of 2"));
}

TEST("signs that fill gaps between ids are charged, and a million of them refused") {
  TokenizerDirectory tekken(json{{"model_type", "mistral"}});
  tekken.file("tekken.json", {{"config", {{"pattern", "a"}, {"default_num_special_tokens", 1 << 20}}},
                              {"special_tokens", json::array()},
                              {"vocab", {{{"token_bytes", "YQ=="}}}}});
  check_is_limited(tekken.error());
  TokenizerDirectory lines(json{{"model_type", "llama"}});
  lines.text("tiktoken.model", "YQ== 0\n")
      .file("tokenizer_config.json", {{"added_tokens_decoder", {{"1048576", {{"content", "x"}}}}}});
  check_is_limited(lines.error());
}

TEST("a text that stands for each label without one is charged as often as there are labels") {
  const TempDirectory folder;
  Source source;
  source.format = "hf";
  source.directory = folder.path();
  source.config_path = folder / "config.json";
  source.config = std::make_shared<const json>(json::object());
  check_is_limited(message_of<Error>([&] { read_ctc_texts(source, 1u << 24); }));
  write_text(folder / "vocab.json", R"({"<pad>": 0, "|": 1})");
  write_text(folder / "tokenizer_config.json", json{{"unk_token", std::string(100'000, 'u')}}.dump());
  check_is_limited(message_of<Error>([&] { read_ctc_texts(source, 100'000); }));
  TEST_ASSERT_EQUAL_UINT64(3, read_ctc_texts(source, 3).labels.size());
}

// ---- Adapters ----

TEST("keys that name modules by their ends are found by these, whatever their number") {
  std::map<std::string, int, std::less<>> keys = {{"k", 1}, {"a.k", 2}, {"^x.a.k", 3}, {"^k", 4}, {"x", 5}};
  const auto named = [&](const std::string& module) {
    std::vector<int> found;
    each_naming(keys, module, [&](const std::string&, int value) { found.push_back(value); });
    std::sort(found.begin(), found.end());
    return found;
  };
  TEST_ASSERT_TRUE((named("x.a.k") == std::vector<int>{1, 2, 3}));
  TEST_ASSERT_TRUE((named("k") == std::vector<int>{1, 4}));
  TEST_ASSERT_TRUE((named("x.ak") == std::vector<int>{}));
  TEST_ASSERT_TRUE((named("x.^k") == std::vector<int>{}));
  const uint64_t before = work_charged();
  named("x.a.k");
  const uint64_t few = work_charged() - before;
  for (int i = 0; i < 1000; ++i) keys["other" + std::to_string(i)] = i;
  named("x.a.k");
  TEST_ASSERT_EQUAL_UINT64(2 * few, work_charged() - before);
}

TEST("a tensor is found by the end of its name where no other has it") {
  std::map<std::string, SourceTensor> tensors = {{"model.a.w", {}}, {"other.b.w", {}}, {"a.ww", {}}};
  TensorEnds ends;
  for (auto& [name, tensor] : tensors) ends.add(name, tensor);
  TEST_ASSERT_TRUE(ends.find("a.w") == &tensors.at("model.a.w"));
  TEST_ASSERT_TRUE(ends.find("w") == nullptr);
  TEST_ASSERT_TRUE(ends.find("ww") == &tensors.at("a.ww"));
  TEST_ASSERT_TRUE(ends.find("a.ww") == nullptr);
}

TEST("tensors of an adapter that share one storage are charged each, and refused where they are many") {
  const TempDirectory model, folder;
  TinyLlama().write(model.path());
  write_text(folder / "adapter_config.json",
             json{{"peft_type", "LORA"}, {"r", 2}, {"lora_alpha", 2}, {"modules_to_save", {"more"}}}.dump());
  constexpr uint64_t kElements = 200'000;
  const std::string whole = ::test::pickled_tensor("FloatStorage", "0", 0, {9}, {1});
  std::vector<std::pair<std::string, std::string>> tensors = {
      {"base_model.model.x.lora_A.weight", ::test::pickled_tensor("FloatStorage", "0", 0, {1}, {1})}};
  for (int i = 0; i < 400; ++i) {
    std::string tensor = whole;  // of as many elements as the storage has
    const std::string small = ::test::pickled_numbers({9});
    tensor.replace(tensor.find(small), small.size(), "(J" + ::test::little(kElements, 4) + "t");
    tensors.emplace_back(fmt::format("base_model.model.more.{}.weight", i), tensor);
  }
  write_text(folder / "adapter_model.bin", ::test::zip({{"m/data.pkl", ::test::pickled_dict(tensors)},
                                                        {"m/data/0", std::string(4 * kElements, '\0')}}));
  Source source = read_source(model.path());
  check_is_limited(message_of<Error>([&] { merge_adapter(source, folder.path(), 1.0f); }));
}

// ---- Graphs ----

TEST("onnx: operators that round in a circle are no way to a bias", "[onnx]") {
  const std::vector<std::byte> bytes(16);
  OnnxModel model;
  model.graph.initializers.emplace("w", numbers_of_onnx("w", OnnxType::f32, {2, 2}, bytes));
  model.graph.nodes = {{"MatMul", "", "", {"x", "w"}, {"a"}, {}},
                       {"QuantizeLinear", "", "", {"a"}, {"b"}, {}},
                       {"DequantizeLinear", "", "", {"b"}, {"a"}, {}}};
  name_onnx_weights(model);
  TEST_ASSERT_TRUE(model.weights.empty());
}

TEST("onnx: scales that many operators share are charged each, and refused where they are many", "[onnx]") {
  const std::vector<std::byte> scales(400'000), integers(4);
  OnnxModel model;
  model.graph.initializers.emplace("s", numbers_of_onnx("s", OnnxType::f32, {100'000}, scales));
  model.graph.initializers.emplace("w", numbers_of_onnx("w", OnnxType::i8, {2, 2}, integers));
  for (int i = 0; i < 1000; ++i)
    model.graph.nodes.push_back(
        {"DequantizeLinear", "", "", {"w", "s"}, {fmt::format("rows.{}.weight", i)}, {}});
  const WorkBudget budget("model.onnx", 500'000);
  check_is_limited(message_of<Error>([&] { name_onnx_weights(model); }));
}

// ---- Configs ----

TEST("published code: a width that no model has is refused, not multiplied") {
  Source source;
  source.format = "hf";
  source.config = std::make_shared<const json>(
      json{{"model_type", "nomic_bert"}, {"n_embd", INT64_MAX}, {"activation_function", "swiglu"}});
  TEST_ASSERT_TRUE(contains(message_of<Error>([&] { take_published_code(source); }), "n_embd is"));
}
