// SPDX-License-Identifier: Apache-2.0
//
// Small inputs of the targets whose inputs are the files of a directory.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "host/base/base64.h"
#include "tests/fuzz/piece_kinds.h"
#include "tests/support/files.h"

namespace fuzz {

/// The content of a file in a list of known tokenizers.
inline std::string content_of(const nlohmann::json& files, const char* name) {
  if (name == nullptr || !files.contains(name)) return "";
  const nlohmann::json& content = files.at(name);
  if (content.is_string()) return content.get<std::string>();
  if (content.size() == 1 && content.contains("base64"))
    return mote::convert::from_base64(content.at("base64").get<std::string>()).value();
  return content.dump();
}

inline void make_piece_files(const std::filesystem::path& golden, const std::filesystem::path& out) {
  const nlohmann::json known = nlohmann::json::parse(mote::testing::read_text(golden / "piece_files.json"));
  for (const nlohmann::json& one : known.at("cases")) {
    const nlohmann::json& files = one.at("files");
    for (size_t i = 0; i < std::size(fuzz::kPieceKinds); ++i) {
      const fuzz::PieceKind& kind = fuzz::kPieceKinds[i];
      if (one.at("model_type") != kind.model_type || !files.contains(kind.file)) continue;
      std::string input = {static_cast<char>(i), 0};
      for (const char* name : {"tokenizer_config.json", "added_tokens.json"})
        input += content_of(files, name) + '\0';
      if (kind.second != nullptr) input += content_of(files, kind.second) + '\0';
      mote::testing::write_text(out / one.at("name").get<std::string>(),
                                input + content_of(files, kind.file));
    }
  }
}

/// Adapters; the other kinds' inputs are kept ones.
inline void make_settings(const std::filesystem::path& golden, const std::filesystem::path& out) {
  constexpr char kSafetensors = 3;
  for (const auto& entry : std::filesystem::directory_iterator(golden.parent_path() / "written")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("adapter_") && std::filesystem::exists(entry.path() / "adapter_model.safetensors"))
      mote::testing::write_text(
          out / name, kSafetensors + mote::testing::read_text(entry.path() / "adapter_config.json") + '\0' +
                          mote::testing::read_text(entry.path() / "adapter_model.safetensors"));
  }
}

}  // namespace fuzz
