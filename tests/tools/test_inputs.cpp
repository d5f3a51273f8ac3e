// SPDX-License-Identifier: Apache-2.0
//
// What commands take as input: texts from files, pipes and Windows, of any length; and that nothing which is
// read is written over.
#include "tests/tools/command.h"

using namespace mote::test;
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

std::string decoder() { return model("llama", "--chat-format chatml"); }
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
