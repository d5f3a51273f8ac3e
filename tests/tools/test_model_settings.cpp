// SPDX-License-Identifier: Apache-2.0
//
// Files that stand beside a model's weights, or an adapter's, from the directory to the command's answer.
#include "tests/tools/command.h"

using namespace mote::testing;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

/// A golden decoder with the small tokenizer, at a place that a test calls so.
fs::path decoder_with_texts(const std::string& model, const std::string& name) {
  const fs::path folder = scratch() / name;
  fs::copy(golden(model), folder, fs::copy_options::recursive);
  fs::copy(golden("../tokenizers/small/tokenizer.json"), folder);
  return folder;
}

/// Converts it with more words for the command; what was said of it.
std::string convert_to(const fs::path& folder, const fs::path& file, const std::string& more) {
  const Outcome outcome = run("convert " + folder.string() + " -o " + file.string() + " --type f32 " + more);
  return assert_works(outcome) + outcome.err;
}

}  // namespace

TEST_CASE("chat: samples as generation_config.json says, says so, and gives way to the user's word") {
  const fs::path folder = decoder_with_texts("llama", "with_sampling");
  const std::string plain = (folder / "plain.mote").string(), own = (folder / "own.mote").string();
  fs::remove(folder / "generation_config.json");
  convert_to(folder, plain, "--chat-format llama2");
  write_text(folder / "generation_config.json",
             R"({"do_sample": true, "temperature": 0.7, "top_k": 5, "top_p": 0.9})");
  convert_to(folder, own, "--chat-format llama2");
  const auto answer = [](const std::string& file, const std::string& options) {
    return run("chat " + file + " --json -n 12 --ignore-stop -p 'the cat' " + options);
  };
  const auto ids_of = [](const Outcome& outcome) { return assert_json(outcome).at("output_ids"); };
  const Outcome sampled = answer(own, ""), greedy = answer(own, "--greedy");
  TEST_ASSERT_TRUE(contains(sampled.err, "temperature 0.7, top_k 5, top_p 0.9"));
  TEST_ASSERT_TRUE(ids_of(sampled) == ids_of(answer(plain, "--temp 0.7 --top-k 5 --top-p 0.9")));
  TEST_ASSERT_FALSE(contains(greedy.err, "temperature"));
  TEST_ASSERT_TRUE(ids_of(greedy) == ids_of(answer(plain, "")));
  TEST_ASSERT_FALSE(ids_of(greedy) == ids_of(sampled));
  const Outcome warmer = answer(own, "--temp 1.5");
  TEST_ASSERT_TRUE(contains(warmer.err, "top_k 5, top_p 0.9") && !contains(warmer.err, "temperature"));
  TEST_ASSERT_TRUE(ids_of(warmer) == ids_of(answer(plain, "--temp 1.5 --top-k 5 --top-p 0.9")));
}

TEST_CASE("convert: a tokenizer and a chat template in an adapter's folder take the place of the model's") {
  const fs::path folder = decoder_with_texts("qwen2", "base"), adapter = scratch() / "adapter";
  fs::copy(MOTE_SOURCE_DIR "/tests/written/adapter_plain", adapter);
  const std::string file = (scratch() / "adapted.mote").string();
  const std::string without = convert_to(folder, file, "--lora " + adapter.string());
  TEST_ASSERT_FALSE(contains(without, "is the adapter's"));
  const std::string tokenize = "tokenize " + file + " --json --no-special -p '<|mine|>'";
  const size_t pieces = assert_json(run(tokenize)).at("ids").size();

  json tokenizer = json::parse(read_text(folder / "tokenizer.json"));
  tokenizer["added_tokens"].push_back(special_token(77, "<|mine|>"));
  write_text(adapter / "tokenizer.json", tokenizer.dump());
  write_text(adapter / "chat_template.jinja",
             "{% for m in messages %}<|mine|>{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}");
  const std::string with = convert_to(folder, file, "--lora " + adapter.string());
  TEST_ASSERT_TRUE(contains(with, "the tokenizer and its chat template is the adapter's"));
  TEST_ASSERT_TRUE(pieces > 1);
  TEST_ASSERT_TRUE(assert_json(run(tokenize)).at("ids") == json::array({77}));
  const json talked = assert_json(run("chat " + file + " --json -n 2 --ignore-stop -p a"));
  // The sign, "user: a" and the end of the line.
  const json turn = assert_json(run("tokenize " + file + " --json --no-special -p '<|mine|>user: a\n'"));
  TEST_ASSERT_EQUAL_UINT64(turn.at("ids").size(), talked.at("prompt_tokens").get<size_t>());
}
