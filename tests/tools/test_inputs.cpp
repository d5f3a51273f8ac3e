// SPDX-License-Identifier: Apache-2.0
//
// What commands take as input: texts from files, pipes and Windows, of any length; and that nothing which is
// read is written over.
#include <cmath>
#include <sstream>

#include "tests/tools/command.h"

using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A golden model with the small tokenizer, converted once in its own directory.
fs::path model_directory(const std::string& name) {
  const fs::path folder = scratch() / ("inputs_" + name);
  if (fs::exists(folder)) return folder;
  fs::copy(golden(name), folder, fs::copy_options::recursive);
  fs::copy(golden("../tokenizers/small/tokenizer.json"), folder);
  return folder;
}

std::string model(const std::string& name, const std::string& options = "") {
  const std::string path = (model_directory(name) / "out.mote").string();
  if (fs::exists(path)) return path;
  assert_works(run("convert " + model_directory(name).string() + " -o " + path + " --type f32 " + options));
  return path;
}

std::string decoder() { return model("llama", "--chat-format llama2"); }
std::string encoder() { return model("mpnet_sentence"); }

std::string text_file(const std::string& text) {
  const std::string path = (scratch() / "input.txt").string();
  write_text(path, text);
  return path;
}

/// A command that would write `path`: refused, and the file stays as it is.
void assert_refused(const std::string& command, const std::string& path, const std::string& why) {
  const std::string before = read_text(path);
  assert_fails(run(command), 1, why);
  TEST_ASSERT_TRUE(read_text(path) == before);
}

}  // namespace

TEST_CASE("tokenize: an encoder's tokenizer is as good as a decoder's") {
  const std::string ids = assert_works(run("tokenize " + encoder() + " -p 'the cat sat'"));
  TEST_ASSERT_TRUE(ids.size() > 3);
  TEST_ASSERT_EQUAL_STRING(assert_works(run("tokenize " + decoder() + " -p 'the cat sat'")), ids);
}

TEST_CASE("tokenize: a text is the same from an argument, a file, standard input and a pipe") {
  const std::string path = text_file("the cat\nsat");
  const std::string ids = assert_works(run("tokenize " + decoder() + " --file " + path));
  TEST_ASSERT_EQUAL_STRING(ids,
                           assert_works(run("tokenize " + decoder() + " -p \"$(printf 'the cat\\nsat')\"")));
  TEST_ASSERT_EQUAL_STRING(ids, assert_works(run("tokenize " + decoder() + " --file - <" + path)));
  const std::string pipe = (scratch() / "pipe").string();
  TEST_ASSERT_EQUAL_STRING(ids, assert_works(run("tokenize " + decoder() + " --file " + pipe,
                                                 "mkfifo " + pipe + "; cat " + path + " >" + pipe + " & ")));
}

TEST_CASE("chat: lines that end as on Windows say the same") {
  const std::string command = "chat " + decoder() + " -n 8 --ignore-stop --json <";
  const json unix_lines = assert_json(run(command + text_file("the cat\n/exit\nnever\n")));
  const json windows_lines = assert_json(run(command + text_file("the cat\r\n/exit\r\nnever\r\n")));
  for (const char* key : {"output_ids", "prompt_tokens"}) {
    TEST_ASSERT_TRUE(unix_lines.at(key) == windows_lines.at(key));
  }
}

TEST_CASE("a long text without spaces is a text as any other") {
  const std::string word(81 * 1024, 'a');
  const std::string path = text_file(word);
  TEST_ASSERT_TRUE(assert_works(run("tokenize " + decoder() + " --file " + path)).size() > 1000);
  assert_fails(run("run " + decoder() + " -n 2 --file " + path), 1, "exceed the context");
  assert_fails(run("chat " + decoder() + " -n 2 <" + path), 1, "the context has");
  const json line = assert_json(run("embed " + encoder() + " --truncate --file " + path));
  TEST_ASSERT_EQUAL_SIZE_T(word.size(), line.at("text").get<std::string>().size());
  assert_fails(run("embed " + encoder() + " --file " + path), 1, "--truncate cuts");
}

TEST_CASE(
    "embed: a sentence-transformers directory gives its library's vectors, and cross encoders its scores") {
  const fs::path sentence = golden("bert_sentence_dense"), cross = golden("bert_cross_encoder");
  const json expected = json::parse(read_text(sentence / "golden.json"));
  std::string lines;
  for (const json& text : expected.at("texts")) lines += text.get<std::string>() + "\n";
  // The second text has more than the 9 tokens that the tokenizer's model_max_length allows.
  assert_fails(run("embed " + converted("bert_sentence_dense", "f32") + " --file " + text_file(lines)), 1,
               "there is room for 9");
  const Outcome outcome =
      run("embed " + converted("bert_sentence_dense", "f32") + " --truncate --file " + text_file(lines));
  std::istringstream in(assert_works(outcome));
  TEST_ASSERT_TRUE(contains(outcome.err, "the first 9 of"));
  for (const json& vector : expected.at("embeddings")) {
    std::string line;
    std::getline(in, line);
    const json values = json::parse(line).at("embedding");
    TEST_ASSERT_EQUAL_SIZE_T(vector.size(), values.size());
    for (size_t i = 0; i < values.size(); ++i)
      TEST_ASSERT_TRUE(std::abs(values[i].get<double>() - vector[i].get<double>()) < 1e-4);
  }

  const json ranked = json::parse(read_text(cross / "golden.json"));
  lines.clear();
  for (const json& line : ranked.at("lines")) lines += line.get<std::string>() + "\n";
  const std::string rerank = " --rerank '" + ranked.at("query").get<std::string>() + "' --json --file ";
  std::istringstream scores(
      assert_works(run("embed " + converted("bert_cross_encoder", "f32") + rerank + text_file(lines))));
  double before = 1e9;
  size_t count = 0;
  for (std::string line; std::getline(scores, line); ++count) {
    const json score = json::parse(line);
    const size_t index = score.at("line").get<size_t>() - 1;
    TEST_ASSERT_TRUE(std::abs(score.at("score").get<double>() - ranked.at("scores")[index].get<double>()) <
                     1e-4);
    TEST_ASSERT_TRUE(score.at("score").get<double>() <= before);
    before = score.at("score");
  }
  TEST_ASSERT_EQUAL_SIZE_T(ranked.at("lines").size(), count);
  assert_fails(run("embed " + converted("bert_sentence_dense", "f32") + rerank + text_file(lines)), 1,
               "no cross encoder");
}

TEST_CASE("embed: a prompt stands before each line") {
  const std::string model = converted("bert_sentence_dense", "f32");
  const json with = assert_json(run("embed " + model + " --prompt 'the ' --file " + text_file("cat\n")));
  const json whole = assert_json(run("embed " + model + " --file " + text_file("the cat\n")));
  TEST_ASSERT_TRUE(with.at("embedding") == whole.at("embedding"));
  TEST_ASSERT_EQUAL_STRING("cat", with.at("text").get<std::string>());
  const fs::path copy = scratch() / "prompted";
  fs::copy(golden("bert_sentence_dense"), copy, fs::copy_options::recursive);
  json library = json::parse(read_text(copy / "config_sentence_transformers.json"));
  library["prompts"] = {{"query", "query: "}, {"document", ""}};
  const auto note_of = [&] {
    write_text(copy / "config_sentence_transformers.json", library.dump());
    const Outcome outcome =
        run("convert " + copy.string() + " --type f32 -o " + (scratch() / "prompted.mote").string());
    assert_works(outcome);
    return outcome.err;
  };
  TEST_ASSERT_TRUE(contains(note_of(), "query \"query: \"; mote embed --prompt-name NAME"));
  const std::string prompted = "embed " + (scratch() / "prompted.mote").string() + " --file ";
  const json plain = assert_json(run(prompted + text_file("the cat\n")));
  TEST_ASSERT_TRUE(plain.at("embedding") == whole.at("embedding"));
  const json named = assert_json(run(prompted + text_file("the cat\n") + " --prompt-name query"));
  const json spelled = assert_json(run(prompted + text_file("query: the cat\n")));
  TEST_ASSERT_TRUE(named.at("embedding") == spelled.at("embedding"));
  TEST_ASSERT_FALSE(named.at("embedding") == plain.at("embedding"));
  assert_fails(run(prompted + text_file("x\n") + " --prompt-name other"), 1,
               "has no prompt 'other'; it has document, query");
  const json ranked = assert_json(run(prompted + text_file("query: the cat\n") + " --rank 'the cat' --json"));
  TEST_ASSERT_TRUE(ranked.at("score").get<double>() > 1 - 1e-6);
  library["default_prompt_name"] = "query";
  note_of();
  const json by_default = assert_json(run(prompted + text_file("the cat\n")));
  TEST_ASSERT_TRUE(by_default.at("embedding") == spelled.at("embedding"));
  const json without = assert_json(run(prompted + text_file("the cat\n") + " --prompt ''"));
  TEST_ASSERT_TRUE(without.at("embedding") == whole.at("embedding"));
  library["default_prompt_name"] = "other";
  write_text(copy / "config_sentence_transformers.json", library.dump());
  assert_fails(run("convert " + copy.string() + " -o " + (scratch() / "prompted.mote").string()), 1,
               "default_prompt_name other is none of the prompts");
}

TEST_CASE("commands that give no source refuse an encoder-decoder") {
  const std::string file = (scratch() / "t5.mote").string();
  assert_works(run("convert " + golden("t5") + " -o " + file + " --type f32 --no-tokenizer"));
  for (const char* command : {"run", "chat"})
    assert_fails(run(std::string(command) + " " + file), 1, "is an encoder-decoder");
  assert_fails(run("eval " + file + " --perplexity " + text_file("a b c\n")), 1, "is an encoder-decoder");
}

TEST_CASE("messages say what a file is and what to do") {
  const auto file = [](const std::string& content) {
    const std::string path = (scratch() / "other.bin").string();
    write_text(path, content);
    return path;
  };
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n";
  assert_fails(run("run " + file(pointer) + " -p x"), 1, "git lfs pull");
  assert_fails(run("run " + file("GGUF\3___________") + " -p x"), 1,
               "is a GGUF file, not a .mote file; mote convert");
  assert_fails(run("inspect " + file("12345678{\"a\"")), 1, "is a safetensors file");
  assert_fails(run("run " + file("") + " -p x"), 1, "is empty");
  assert_fails(run("chat " + golden("llama")), 1, "is a directory, not a .mote file; mote convert");
  assert_fails(run("run " + decoder() + " --file " + golden("llama")), 1, "it is a directory");
  assert_fails(run("tokenize " + decoder() + " --file " + golden("llama")), 1, "it is a directory");
  assert_fails(run("embed " + encoder() + " --file " + golden("llama")), 1, "it is a directory");
  assert_fails(run("run " + decoder() + " --context 4 -p 'the cat sat on the mat'"), 1,
               "exceed the context of 4: give more with --context, up to the model's");
  assert_fails(run("run " + decoder() + " -p x --temp 1 --top-p 0"), 2, "0 is not above 0");
  const fs::path copy = scratch() / "messages";
  fs::copy(golden("llama"), copy, fs::copy_options::recursive);
  write_text(copy / "model-00002-of-00003.safetensors", pointer);
  const std::string convert = "convert " + copy.string() + " -o " + (scratch() / "messages.mote").string();
  assert_fails(run(convert), 1, "model-00002-of-00003.safetensors is a Git LFS pointer");
  write_text(copy / "adapter_config.json", "{}");
  assert_fails(run(convert), 1, "convert the model that it was trained for with --lora");
}

TEST_CASE("an output that is one of the inputs is refused") {
  const std::string directory = model_directory("mpnet_sentence").string(), file = encoder();
  for (const char* name : {"model.safetensors", "config.json", "tokenizer.json", "modules.json"}) {
    const std::string path = directory + "/" + name;
    assert_refused("convert " + directory + " -o " + path, path, "its own source");
    fs::remove(scratch() / "link");
    fs::create_symlink(path, scratch() / "link");
    assert_refused("convert " + directory + " -o " + (scratch() / "link").string(), path, "its own source");
  }
  // The weights of caches are links to places elsewhere.
  fs::remove_all(scratch() / "cache");
  fs::copy(directory, scratch() / "cache", fs::copy_options::recursive);
  fs::rename(scratch() / "cache/model.safetensors", scratch() / "blob");
  fs::create_symlink(scratch() / "blob", scratch() / "cache/model.safetensors");
  const std::string blob = (scratch() / "blob").string();
  assert_refused("convert " + (scratch() / "cache").string() + " -o " + blob, blob, "being read");
  assert_works(run("convert " + directory + " --type f32 -o " + file));  // a .mote file there is none of them

  const std::string lines = text_file("the cat\n");
  assert_refused("embed " + file + " --file " + lines + " --npy " + file, file, "would overwrite");
  assert_refused("embed " + file + " --file " + lines + " --npy " + lines, lines, "would overwrite");
  assert_refused("embed " + file + " --npy " + lines + " <" + lines, lines, "standard input");
  const std::string model = decoder(), state = (scratch() / "kept.state").string();
  assert_works(run("run " + model + " -p cat -n 1 --save-state " + state));
  assert_refused("run " + model + " -p cat -n 1 --save-state " + model, model, "would overwrite");
  assert_refused("run " + model + " --huge-pages -p cat -n 1 --save-state " + model, model,
                 "would overwrite");
  assert_refused("run " + model + " -n 1 --file " + lines + " --save-state " + lines, lines,
                 "would overwrite");
  assert_refused("run " + model + " -p cat -n 1 --load-state " + state + " --save-state " + state, state,
                 "would overwrite");
  const std::string input = golden("llama") + "/golden.safetensors", copy = (scratch() / "in.st").string();
  fs::copy_file(input, copy, fs::copy_options::overwrite_existing);
  const std::string forward = "forward " + model + " --input " + copy + " --output ";
  assert_refused(forward + copy, copy, "would overwrite");
  assert_refused(forward + model, model, "would overwrite");
}
