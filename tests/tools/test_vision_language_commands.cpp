// SPDX-License-Identifier: Apache-2.0
//
// Pictures in prompts on the command line: chat and run with --image.
#include <algorithm>

#include "tests/tools/command.h"

using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr int kImageId = 99;  // of the golden models

/// A tokenizer of characters, and special tokens by their ids.
json characters(const std::vector<std::pair<std::string, int>>& special) {
  json vocab = {{"<unk>", 0}}, added = json::array();
  int next = 3;
  for (const char c : std::string("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTU:.?!\n"))
    vocab[std::string(1, c)] = next++;
  vocab["\u2581"] = next;
  for (const auto& [text, id] : special) {
    vocab[text] = id;
    added.push_back({{"id", id},
                     {"content", text},
                     {"special", true},
                     {"normalized", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"single_word", false}});
  }
  const json space = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
  const json back = {{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}};
  return {{"version", "1.0"},
          {"added_tokens", added},
          {"normalizer", space},
          {"pre_tokenizer", nullptr},
          {"post_processor", nullptr},
          {"decoder", {{"type", "Sequence"}, {"decoders", {back, {{"type", "Fuse"}}}}}},
          {"model",
           {{"type", "BPE"},
            {"unk_token", "<unk>"},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"vocab", vocab},
            {"merges", json::array()}}}};
}

struct Files {
  std::string reads, sees;
};

/// Both files of a golden model with such a tokenizer, template and processor beside it.
Files convert_both(const std::string& name, const json& tokenizer, const std::string& chat_template,
                   const json& processor) {
  const fs::path folder = scratch() / ("vision_input_" + name);
  fs::remove_all(folder);
  fs::copy(golden(name), folder, fs::copy_options::recursive);
  write_text(folder / "tokenizer.json", tokenizer.dump());
  write_text(folder / "chat_template.json", json({{"chat_template", chat_template}}).dump());
  write_text(folder / "preprocessor_config.json", processor.dump());
  const Files files{(folder / "reads.mote").string(), (folder / "sees.mote").string()};
  assert_works(run("convert " + folder.string() + " -o " + files.reads + " --type f32"));
  assert_works(run("convert " + folder.string() + " -o " + files.sees + " --type f32 --tower vision"));
  return files;
}

Files qwen() {
  const json processor = json::parse(R"({"image_processor_type": "Qwen2VLImageProcessorFast",
      "size": {"shortest_edge": 256, "longest_edge": 512}, "patch_size": 4, "temporal_patch_size": 2,
      "merge_size": 2, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]})");
  const std::string chat_template =
      "{%- for message in messages -%}{{- '<|im_start|>' + message.role[0] + '\\n' -}}"
      "{%- for part in message.content -%}{%- if part.type == 'image' -%}"
      "<|vision_start|><|image_pad|><|vision_end|>{%- else -%}{{- part.text -}}{%- endif -%}{%- endfor -%}"
      "{{- '<|im_end|>\\n' -}}{%- endfor -%}"
      "{%- if add_generation_prompt -%}{{- '<|im_start|>a\\n' -}}{%- endif -%}";
  return convert_both("qwen3_vl",
                      characters({{"<|vision_start|>", 1},
                                  {"<|vision_end|>", 2},
                                  {"<|im_start|>", 96},
                                  {"<|im_end|>", 97},
                                  {"<|image_pad|>", kImageId}}),
                      chat_template, processor);
}

Files idefics() {
  const json processor = json::parse(R"({"image_processor_type": "Idefics3ImageProcessor",
      "size": {"longest_edge": 64}, "max_image_size": {"longest_edge": 32}, "resample": 1,
      "do_image_splitting": true, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]})");
  const std::string chat_template =
      "<|im_start|>{% for message in messages %}{{message['role'] | capitalize}}"
      "{% if message['content'][0]['type'] == 'image' %}{{':'}}{% else %}{{': '}}{% endif %}"
      "{% for line in message['content'] %}{% if line['type'] == 'text' %}{{line['text']}}"
      "{% elif line['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}<end_of_utterance>\n"
      "{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}";
  std::vector<std::pair<std::string, int>> special = {
      {"<|im_start|>", 1},   {"<end_of_utterance>", 2},
      {"<global-img>", 90},  {"<fake_token_around_image>", 91},
      {"<row_1_col_1>", 92}, {"<row_1_col_2>", 93},
      {"<row_2_col_1>", 94}, {"<row_2_col_2>", 95},
      {"<image>", kImageId}};
  return convert_both("idefics3", characters(special), chat_template, processor);
}

std::string picture_of(const std::string& name) {
  return std::string(MOTE_SOURCE_DIR) + "/tests/pictures/files/" + name;
}

bool reads_pictures(const Outcome& outcome) { return !contains(outcome.err, "this build reads no pictures"); }

}  // namespace

TEST("a prompt has as many tokens of a picture_of as its size gives, and each picture_of its own answer") {
  const Files files = qwen();
  const std::string command =
      " --chat -p hi --greedy -n 4 --ignore-stop --json --vision " + files.sees + " --image ";
  const Outcome outcome = run("run " + files.reads + command + picture_of("grid.png"));
  if (!reads_pictures(outcome)) return;  // as configured
  const json one = assert_json(outcome);
  // <|im_start|> u \n <|vision_start|> 2 x 3 <|vision_end|> h i <|im_end|> \n <|im_start|> a \n
  const std::vector<int> ids = one.at("prompt_ids");
  TEST_ASSERT_EQUAL_INT(6, static_cast<int>(std::count(ids.begin(), ids.end(), kImageId)));
  TEST_ASSERT_EQUAL_INT(3 + 1 + 6 + 1 + 2 + 2 + 3, static_cast<int>(ids.size()));
  TEST_ASSERT_EQUAL_INT(kImageId, ids.at(4));
  const json other = assert_json(run("run " + files.reads + command + picture_of("two.png")));
  CHECK(other.at("output_ids") != one.at("output_ids"));

  const json said = assert_json(
      run("chat " + files.reads + command.substr(7) + picture_of("grid.png") + " --repeat-penalty 1"));
  CHECK(said.at("output_ids") == one.at("output_ids"));
  assert_fails(run("chat " + files.reads + " -p hi --image " + picture_of("grid.png")), 2, "--vision");
  assert_fails(
      run("chat " + files.reads + " -p hi --vision " + files.reads + " --image " + picture_of("grid.png")), 1,
      "--tower vision");
  assert_works(run("chat " + files.reads + command.substr(7) + picture_of("turned.jpg")));
}

TEST("a conversation goes on after pictures, and text alone needs none") {
  const Files files = qwen();
  const fs::path lines = scratch() / "lines";
  write_text(lines, "hi\nyes\n");
  const std::string options = " --greedy -n 3 --ignore-stop --json --repeat-penalty 1";
  const Outcome outcome = run("chat " + files.reads + options + " --vision " + files.sees + " --image " +
                              picture_of("grid.png") + " <" + lines.string());
  if (!reads_pictures(outcome)) return;
  assert_works(outcome);
  const json second = json::parse(outcome.out.substr(outcome.out.find('\n') + 1));
  TEST_ASSERT_TRUE(second.at("reused_tokens").get<int>() >= 18);
  TEST_ASSERT_EQUAL_INT(3, static_cast<int>(second.at("output_ids").size()));
  TEST_ASSERT_EQUAL_INT(
      3,
      static_cast<int>(assert_json(run("chat " + files.reads + options + " -p hi")).at("output_ids").size()));
}

TEST("tiles of a picture_of stand in the prompt with their rows and columns, the whole behind them") {
  const Files files = idefics();
  const Outcome outcome =
      run("run " + files.reads + " --chat -p hi --greedy -n 2 --ignore-stop --json --vision " + files.sees +
          " --image " + picture_of("grid.png"));
  if (!reads_pictures(outcome)) return;
  std::vector<int> ids = assert_json(outcome).at("prompt_ids");
  // Without the pictures' tokens and those of letters.
  std::vector<int> marks;
  for (const int id : ids) {
    if (id >= 90 && (id != kImageId || marks.back() != kImageId)) marks.push_back(id);
  }
  CHECK(marks == std::vector<int>{91, 92, 99, 91, 93, 99, 91, 94, 99, 91, 95, 99, 91, 90, 99, 91});
  TEST_ASSERT_EQUAL_INT(20, static_cast<int>(std::count(ids.begin(), ids.end(), kImageId)));
  // "User:", without the space that stands before a text.
  TEST_ASSERT_EQUAL_INT(91, ids.at(6));
}

TEST("processors that give other pixels than the original's are refused at conversion by their key") {
  const fs::path folder = scratch() / "sight_refused";
  fs::remove_all(folder);
  fs::copy(golden("idefics3"), folder, fs::copy_options::recursive);
  const auto refusal = [&](const json& changed) {
    json processor = {{"image_processor_type", "Idefics3ImageProcessor"},
                      {"size", {{"longest_edge", 64}}},
                      {"max_image_size", {{"longest_edge", 32}}},
                      {"image_mean", {0.5, 0.5, 0.5}},
                      {"image_std", {0.5, 0.5, 0.5}}};
    processor.update(changed);
    write_text(folder / "preprocessor_config.json", processor.dump());
    return run("convert " + folder.string() + " --tower vision -o " + (folder / "out.mote").string());
  };
  assert_works(refusal(json::object()));
  assert_fails(refusal({{"max_image_size", {{"longest_edge", 64}}}}), 1, "tiles of 64");
  assert_fails(refusal({{"do_image_splitting", false}}), 1, "do_image_splitting");
  assert_fails(refusal({{"sharpen", 1}}), 1, "sharpen");
}

TEST("a line of text in a picture_of is written down, as the text of the tokens that the model gives") {
  const fs::path folder = scratch() / "sight_trocr";
  fs::remove_all(folder);
  fs::copy(golden("trocr"), folder, fs::copy_options::recursive);
  write_text(folder / "tokenizer.json", characters({{"<s>", 1}, {"</s>", 2}}).dump());
  const json processor = {{"image_processor_type", "ViTImageProcessor"},
                          {"size", {{"height", 24}, {"width", 24}}},
                          {"resample", 2},
                          {"image_mean", {0.5, 0.5, 0.5}},
                          {"image_std", {0.5, 0.5, 0.5}}};
  write_text(folder / "preprocessor_config.json", processor.dump());
  const std::string model = (folder / "out.mote").string();
  assert_works(run("convert " + folder.string() + " -o " + model + " --type f32"));
  const Outcome outcome = run("transcribe " + model + " " + picture_of("grid.png") + " --json");
  if (!reads_pictures(outcome)) return;
  const std::string text = assert_json(outcome).at("text");
  TEST_ASSERT_TRUE(!text.empty());
  CHECK(assert_works(run("transcribe " + model + " " + picture_of("grid.png"))) == text + "\n");
  CHECK(assert_json(run("transcribe " + model + " " + picture_of("two.png") + " --json")).at("text") != text);
  assert_fails(run("transcribe " + model + " " + picture_of("grid.png") + " --srt"), 2, "--srt");
  for (const char* option : {" --beams 3", " --prompt a", " --offset 1", " --vad", " --speculate lookup"})
    assert_fails(run("transcribe " + model + " " + picture_of("grid.png") + option), 2, "reads pictures");
  assert_works(run("transcribe " + model + " " + picture_of("turned.png")));
}

TEST("TrOCR searches as its own files say, and its text has no special tokens: the original's ids") {
  const json known =
      json::parse(read_text(std::string(MOTE_SOURCE_DIR) + "/tests/written/pictures/lines.json"));
  TEST_ASSERT_GREATER_THAN(3u, known.at("cases").size());
  json tokenizer = characters({{"<pad>", 0}, {"<s>", 1}, {"</s>", 2}, {"<start>", 3}});
  json& vocabulary = tokenizer["model"]["vocab"];
  vocabulary = {{"<pad>", 0}, {"<s>", 1}, {"</s>", 2}, {"<start>", 3}};
  const auto letter = [](int id) {  // U+0100 and on
    return std::string{static_cast<char>(0xC4 + id / 64), static_cast<char>(0x80 + id % 64)};
  };
  for (int id = 4; id < 100; ++id) vocabulary[letter(id)] = id;
  tokenizer["model"]["unk_token"] = nullptr;
  int number = 0;
  for (const json& one : known.at("cases")) {
    CAPTURE(one.at("name").get<std::string>());
    const fs::path folder = scratch() / ("lines" + std::to_string(number++));
    fs::copy(golden("trocr"), folder, fs::copy_options::recursive);
    json config = json::parse(read_text(folder / "config.json"));
    config.update(one.at("config"));
    config["decoder"].update(one.at("decoder"));
    write_text(folder / "config.json", config.dump());
    if (!one.at("keeps_generation").get<bool>()) fs::remove(folder / "generation_config.json");
    for (const auto& [file, content] : one.at("files").items()) write_text(folder / file, content.dump());
    write_text(folder / "tokenizer.json", tokenizer.dump());
    const std::string model = (folder / "out.mote").string();
    assert_works(run("convert " + folder.string() + " -o " + model + " --type f32"));
    const Outcome outcome = run("transcribe " + model + " " + picture_of("grid.png"));
    if (!reads_pictures(outcome)) return;
    std::string text;
    for (const int id : one.at("ids").get<std::vector<int>>()) text += id < 4 ? "" : letter(id);
    TEST_ASSERT_EQUAL_STRING(text + "\n", assert_works(outcome));
  }
}
