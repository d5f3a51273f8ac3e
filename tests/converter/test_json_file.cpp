// SPDX-License-Identifier: Apache-2.0
//
// Values of a wrong kind, in every JSON file that is read: one sentence with the file and the key.
#include "host/base/json_file.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "converter/convert.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

using namespace mote::convert;
using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string kGolden = std::string(MOTE_SOURCE_DIR) + "/tests/golden/";

json parsed(const fs::path& path) { return json::parse(read_text(path)); }

/// A golden model's directory that the test may change.
struct Model {
  explicit Model(const std::string& name) : path(folder / "model") {
    fs::copy(kGolden + "models/" + name, path, fs::copy_options::recursive);
  }
  void write(const std::string& name, const json& value) const {
    fs::create_directories((path / name).parent_path());
    write_text(path / name, value.dump());
  }
  /// What a conversion fails with; "" if it does not.
  std::string message() const {
    return message_of<std::exception>([&] { mote::convert::convert(path, folder / "out", {}); });
  }
  TempDirectory folder;
  fs::path path;
};

/// Calls take(pointer to a value) for every value below, of long objects and lists for the first.
void for_each_value(const json& value, const json::json_pointer& at,
                    const std::function<void(const json::json_pointer&)>& take) {
  constexpr int kMost = 8;
  int count = 0;
  for (const auto& [key, inner] : value.items()) {
    if (value.size() > 40 && count++ == kMost) return;
    const json::json_pointer below = value.is_array() ? at / static_cast<size_t>(std::stoul(key)) : at / key;
    take(below);
    if (inner.is_structured()) for_each_value(inner, below, take);
  }
}

/// The last key of a pointer that is no index.
std::string key_of(json::json_pointer at) {
  while (!at.empty() && at.back().find_first_not_of("0123456789") == std::string::npos) at.pop_back();
  return at.empty() ? "" : at.back();
}

/// Each value of the file replaced by one of each other kind: where that fails, it does so with the file's
/// path in one line, and nobody else's exception. `named`: the key, too.
void check_kinds(const Model& model, const std::string& name, bool named = true) {
  const json whole = parsed(model.path / name);
  for_each_value(whole, json::json_pointer(), [&](const json::json_pointer& at) {
    std::set<std::string> kinds{whole.at(at).type_name()};
    for (const json& other : {json("q"), json(1.5), json(true), json::object(), json::array()}) {
      if (!kinds.insert(other.type_name()).second) continue;
      json damaged = whole;
      damaged[at] = other;
      model.write(name, damaged);
      const std::string message = model.message();
      CAPTURE(name, at.to_string(), other.dump(), message);
      if (message.empty()) continue;
      TEST_ASSERT_TRUE(message.find("json.exception") == std::string::npos);
      TEST_ASSERT_TRUE(message.find('\n') == std::string::npos);
      TEST_ASSERT_TRUE(message.find((model.path / name).string()) == 0);
      TEST_ASSERT_TRUE(!named || message.find(key_of(at)) != std::string::npos);
    }
  });
  model.write(name, whole);
}

}  // namespace

TEST("json file: a value of another kind is refused with file, key, what is expected and what is there") {
  const JsonFile file("d/config.json");
  const json object = {{"n", "x"}, {"t", 1.5}, {"f", json::array({1})}, {"l", false}, {"null", nullptr}};
  const auto message = [](auto action) { return message_of<Error>(action); };
  TEST_ASSERT_EQUAL_STRING("d/config.json: n is \"x\", expected a whole number from 0 to 9",
                           message([&] { (void)file.optional_size(object, "n", 9); }));
  TEST_ASSERT_EQUAL_STRING("d/config.json: t is 1.5, expected a text",
                           message([&] { file.text(object, "t"); }));
  TEST_ASSERT_EQUAL_STRING("d/config.json: f is [1], expected true or false",
                           message([&] { file.flag(object, "f", true); }));
  TEST_ASSERT_EQUAL_STRING("d/config.json: l is false, expected a list",
                           message([&] { file.list(object, "l"); }));
  TEST_ASSERT_EQUAL_STRING("d/config.json: l is false, expected an object",
                           message([&] { file.object(object, "l"); }));
  TEST_ASSERT_EQUAL_STRING("d/config.json: null is missing, expected a text",
                           message([&] { file.text(object, "null"); }));
  TEST_ASSERT_EQUAL_STRING("otherwise", file.text(object, "null", "otherwise"));
}

TEST("json file: config.json of every kind of model", "[values]") {
  for (const char* name : {"llama", "llama_rope_yarn", "llama_rope_llama3", "qwen2", "gpt2"}) {
    check_kinds(Model(name), "config.json", false);
  }
}

TEST("json file: config.json says which key") {
  const Model model("llama");
  json config = parsed(model.path / "config.json");
  config["hidden_size"] = "x";
  model.write("config.json", config);
  TEST_ASSERT_EQUAL_STRING((model.path / "config.json").string() +
                               ": hidden_size is \"x\", expected a whole number from 1 to 16777216",
                           model.message());
}

TEST("json file: an encoder's config.json", "[values]") {
  check_kinds(Model("bert_classifier"), "config.json", false);
}

TEST("json file: NaN and Infinity are read as Python writes them, and are no numbers") {
  const Model model("llama");
  const std::string config = read_text(model.path / "config.json");
  const auto with = [&](const std::string& more) {
    write_text(model.path / "config.json", "{" + more + "," + config.substr(config.find('{') + 1));
    return model.message();
  };
  TEST_ASSERT_EQUAL_STRING(
      "", with(R"("attention_dropout_prob": NaN, "temperature": -Infinity, "name": "NaN \"")"));
  TEST_ASSERT_TRUE(with(R"("sliding_window": Infinity)").find("sliding_window is \"Infinity\"") !=
                   std::string::npos);
  TEST_ASSERT_TRUE(with(R"("twist": Infinit)").find("not valid JSON") != std::string::npos);
  TEST_ASSERT_TRUE(with(R"("twist": -NaN)").find("not valid JSON") != std::string::npos);
}

TEST("json file: generation_config.json") {
  const Model model("llama");
  model.write("generation_config.json", {{"eos_token_id", {2}}});
  check_kinds(model, "generation_config.json");
}

TEST("json file: tokenizer_config.json") {
  const Model model("llama");
  model.write("tokenizer_config.json", {{"chat_template", {{{"name", "default"}, {"template", "x"}}}}});
  check_kinds(model, "tokenizer_config.json");
}

TEST("json file: tokenizer.json", "[values]") {
  const Model model("llama");
  model.write("tokenizer.json", parsed(kGolden + "tokenizers/small/tokenizer.json"));
  check_kinds(model, "tokenizer.json", false);
}

TEST("json file: the index of shards") { check_kinds(Model("llama"), "model.safetensors.index.json", false); }

TEST("json file: the files of a sentence-transformers directory") {
  const Model model("bert");
  const std::string models = "sentence_transformers.models.";
  model.write("modules.json", {{{"path", ""}, {"type", models + "Transformer"}},
                               {{"path", "1_Pooling"}, {"type", models + "Pooling"}}});
  model.write("1_Pooling/config.json",
              {{"pooling_mode_mean_tokens", true}, {"pooling_mode_cls_token", false}});
  model.write("sentence_bert_config.json", {{"max_seq_length", 16}});
  TEST_ASSERT_EQUAL_STRING("", model.message());
  for (const char* name : {"1_Pooling/config.json", "sentence_bert_config.json"})
    check_kinds(model, name, false);
  for (const char* key : {"pooling_mode_mean_tokens", "pooling_mode_cls_token"}) {
    model.write("1_Pooling/config.json", {{key, "x"}});
    TEST_ASSERT_TRUE(model.message().find(std::string("config.json: ") + key + " is \"x\"") !=
                     std::string::npos);
  }
}

TEST("json file: tokenizer_config.json beside BERT's vocab.txt") {
  const Model model("bert");
  write_text(model.path / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n");
  model.write("tokenizer_config.json", {{"do_lower_case", true},
                                        {"strip_accents", false},
                                        {"tokenize_chinese_chars", true},
                                        {"unk_token", {{"content", "[UNK]"}}},
                                        {"sep_token", "[SEP]"}});
  TEST_ASSERT_EQUAL_STRING("", model.message());
  for (const char* key : {"do_lower_case", "strip_accents", "unk_token", "sep_token"}) {
    json config = parsed(model.path / "tokenizer_config.json");
    config[key] = 1.5;
    const Model damaged("bert");
    write_text(damaged.path / "vocab.txt", read_text(model.path / "vocab.txt"));
    damaged.write("tokenizer_config.json", config);
    CAPTURE(damaged.message());
    TEST_ASSERT_TRUE(damaged.message().find((damaged.path / "tokenizer_config.json").string() + ": " + key +
                                            " is 1.5, expected") == 0);
  }
}
