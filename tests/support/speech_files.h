// SPDX-License-Identifier: Apache-2.0
//
// What scripts/make_known_speech knows of Speech2Text, and the files that it made for the original.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/sentence_piece_file.h"

namespace mote::testing {

inline const nlohmann::json& known_speech() {
  static const nlohmann::json values =
      nlohmann::json::parse(read_text(MOTE_SOURCE_DIR "/tests/golden/speech_texts.json"));
  return values;
}

inline const nlohmann::json& known_speech(const std::string& name) {
  for (const nlohmann::json& one : known_speech().at("cases")) {
    if (one.at("name") == name) return one;
  }
  throw std::runtime_error("no case " + name);
}

/// The files beside the model, pieces and vocabulary among them.
inline void write_speech_files(const nlohmann::json& one, const std::filesystem::path& folder) {
  for (const auto& [file, content] : one.at("files").items()) write_text(folder / file, content.dump());
  const bool languages = one.at("files").at("tokenizer_config.json").contains("lang_codes");
  ::test::SentencePieceFile pieces(std::vector<std::string>{});
  nlohmann::json vocabulary;
  for (const std::string text : known_speech().at("pieces")) {
    const bool sign = text == "<pad>" || text == "<s>" || text == "</s>";
    const bool user_defined = languages && text.rfind("<lang:", 0) == 0;
    const uint64_t kind = text == "<unk>" ? 2 : sign ? 3 : user_defined ? 4 : 1;
    pieces.piece(text, -static_cast<float>(vocabulary.size()), kind);
    vocabulary[text] = vocabulary.size();
  }
  write_text(folder / "vocab.json", vocabulary.dump());
  write_text(folder / "sentencepiece.bpe.model", pieces.bytes());
}

}  // namespace mote::testing
