// SPDX-License-Identifier: Apache-2.0
//
// Encoders with a tokenizer for tests of commands that read texts.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/tools/command.h"

namespace mote::testing {

/// Returns the small tokenizer with a template for pairs.
inline nlohmann::json tokenizer_of_pairs() {
  nlohmann::json tokenizer = nlohmann::json::parse(read_text(golden("../tokenizers/small/tokenizer.json")));
  nlohmann::json& pair = tokenizer.at("post_processor").at("pair");
  const auto add = [&](const char* kind, const char* id, int type) {
    pair.push_back({{kind, {{"id", id}, {"type_id", type}}}});
  };
  add("SpecialToken", "<s>", 0);
  add("Sequence", "A", 0);
  add("SpecialToken", "</s>", 0);
  add("Sequence", "B", 1);
  add("SpecialToken", "</s>", 1);
  return tokenizer;
}

/// Converts a golden model with a small tokenizer beside it once, and returns the file.
inline std::string with_tokenizer(const std::string& name, const std::string& options = "") {
  const std::filesystem::path folder = scratch() / ("text_" + name);
  const std::string path = (folder / "out.mote").string();
  if (std::filesystem::exists(path)) return path;
  std::filesystem::copy(golden(name), folder, std::filesystem::copy_options::recursive);
  write_text(folder / "tokenizer.json", tokenizer_of_pairs().dump());
  assert_works(run("convert " + folder.string() + " -o " + path + " --type f32 " + options));
  return path;
}

/// Returns the objects that a command prints, one a line.
inline std::vector<nlohmann::json> json_lines(const Outcome& outcome) {
  std::istringstream in(assert_works(outcome));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

}  // namespace mote::testing
