// SPDX-License-Identifier: Apache-2.0
//
// The golden Whisper, whose windows are of half a second, and a tokenizer with marks of languages, tasks and
// times.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/command.h"

namespace mote::testing {

/// Converts it in a folder of this name, with further keys of generation_config.json.
inline std::string marked_whisper(const std::string& name, const nlohmann::json& generation) {
  namespace fs = std::filesystem;
  using nlohmann::json;
  // Ids from 58 on; times are those from 69 on, which have no texts.
  const std::vector<std::string> marks = {"<58>",
                                          "<59>",
                                          "<|endoftext|>",
                                          "<|startoftranscript|>",
                                          "<|en|>",
                                          "<|de|>",
                                          "<|translate|>",
                                          "<|transcribe|>",
                                          "<|startofprev|>",
                                          "<|nospeech|>",
                                          "<|notimestamps|>"};
  const fs::path folder = scratch() / name;
  fs::copy(golden("whisper"), folder, fs::copy_options::recursive);
  json tokenizer =
      json::parse(read_text(std::string(MOTE_SOURCE_DIR) + "/tests/golden/tokenizers/small/tokenizer.json"));
  for (size_t i = 0; i < marks.size(); ++i)
    tokenizer["added_tokens"].push_back(special_token(58 + i, marks[i]));
  write_text(folder / "tokenizer.json", tokenizer.dump());
  json config = json::parse(read_text((folder / "config.json").string()));
  config["decoder_start_token_id"] = 61;
  config["eos_token_id"] = 60;
  write_text(folder / "config.json", config.dump());
  json all = {{"eos_token_id", 60}, {"is_multilingual", true}};
  all.update(generation);
  write_text(folder / "generation_config.json", all.dump());
  std::string file = (folder / "out.mote").string();
  assert_works(run("convert " + folder.string() + " -o " + file + " --type f32"));
  return file;
}

}  // namespace mote::testing
