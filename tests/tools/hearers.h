// SPDX-License-Identifier: Apache-2.0
//
// Golden models of each kind that hears, with tokenizers, in files.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/base/mapped_file.h"
#include "host/tasks/session.h"
#include "mote/posix.h"
#include "tests/tools/command.h"

namespace mote::testing {

/// The golden model of this name with such files beside it.
inline std::string hearing(const std::string& name,
                           const std::vector<std::pair<std::string, nlohmann::json>>& files) {
  const std::filesystem::path folder = scratch() / (name + "_task");
  std::string file = (folder / "out.mote").string();
  if (std::filesystem::exists(file)) return file;
  std::filesystem::copy(golden(name), folder, std::filesystem::copy_options::recursive);
  for (const auto& [path, content] : files) write_text(folder / path, content.dump());
  assert_works(run("convert " + folder.string() + " -o " + file + " --type f32"));
  return file;
}

/// The small tokenizer with marks of a Whisper, or letters alone for so many tokens.
inline nlohmann::json letters_tokenizer(int letters) {
  nlohmann::json root = nlohmann::json::parse(
      read_text(std::string(MOTE_SOURCE_DIR) + "/tests/golden/tokenizers/small/tokenizer.json"));
  if (letters == 0) {
    const char* const marks[] = {"<58>", "<59>", "<|endoftext|>", "<|startoftranscript|>"};
    for (size_t i = 0; i < std::size(marks); ++i)
      root["added_tokens"].push_back(special_token(58 + i, marks[i]));
    return root;
  }
  root["added_tokens"] = nlohmann::json::array();
  root["post_processor"] = nullptr;
  nlohmann::json& model = root["model"];
  model["merges"] = nlohmann::json::array();
  model["unk_token"] = nullptr;
  model["vocab"] = nlohmann::json::object();
  for (int id = 0; id < letters; ++id) model["vocab"][std::string(1, static_cast<char>('A' + id))] = id;
  return root;
}

inline std::string whisper_file() {
  nlohmann::json config = nlohmann::json::parse(read_text(golden("whisper") + "/config.json"));
  config["decoder_start_token_id"] = 61;
  config["eos_token_id"] = 60;
  return hearing("whisper", {{"tokenizer.json", letters_tokenizer(0)},
                             {"config.json", config},
                             {"generation_config.json", {{"eos_token_id", 60}}}});
}

/// A model of each kind that hears waveforms or features of any noise.
inline std::vector<std::string> hearers() {
  nlohmann::json labels = {{"<pad>", 0}, {"<s>", 1}, {"</s>", 2}, {"<unk>", 3}, {"|", 4}};
  for (int id = 5; id < 32; ++id) labels[std::string(1, static_cast<char>('a' + id - 5))] = id;
  return {whisper_file(), hearing("moonshine", {{"tokenizer.json", letters_tokenizer(0)}}),
          hearing("parakeet_tdt", {{"tokenizer.json", letters_tokenizer(12)}}),
          hearing("parakeet_ctc", {{"tokenizer.json", letters_tokenizer(32)}}),
          hearing("wav2vec2_ctc", {{"vocab.json", labels}})};
}

/// A model in its file.
struct Opened {
  explicit Opened(const std::string& path) : file(path) {
    host::Result<host::Model> opened = host::Model::open(file.bytes(), path);
    REQUIRE(opened.ok());
    model.emplace(*std::move(opened));
    choices.platform = mote_posix_pool_platform(nullptr);
  }
  convert::MappedFile file;
  std::optional<host::Model> model;
  host::SessionChoices choices{};
};

}  // namespace mote::testing
