// SPDX-License-Identifier: Apache-2.0
//
// Reads the files beside a tokenizer.json that change ids: tokenizer_config.json, added_tokens.json and
// special_tokens_map.json, as transformers' AutoTokenizer does. The class that they or the model's type name
// sets a few options anew; the structure of the tokenizer.json stays.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "converter/source.h"
#include "converter/tokenizers/tokenizer_spec.h"

namespace mote::convert {

class SideFiles {
 public:
  /// Throws Error where a file is no JSON of its kind.
  explicit SideFiles(const Source& source);

  /// The tokenizer's class without "Fast"; empty: that of any tokenizer.json.
  const std::string& tokenizer_class() const { return class_; }
  /// Says whether the files name this class, or no class for a model of one of these types, "t5" of " t5 mt5
  /// ".
  bool is_class(const std::string& name, const std::string& model_types) const;
  /// Returns these files as those of a class that the model's type alone names.
  SideFiles of_class(const std::string& name) const;
  const nlohmann::json& config() const { return config_; }
  const std::string& config_path() const { return config_path_; }
  /// A special token's text by its name in these files.
  std::string named_token(const char* key, const char* otherwise) const;

  /// Changes a parsed tokenizer.json; `where` names it in messages. Throws Error where the files contradict
  /// each other.
  void apply(nlohmann::json& tokenizer, const std::string& where) const;

  /// Says whether texts that are too long lose their beginning: as tokenizer_config.json says, or else the
  /// truncation of a tokenizer.json.
  bool cuts_left(const nlohmann::json& tokenizer) const;

 private:
  void set_bert(nlohmann::json& tokenizer, const std::string& where) const;
  void set_prefix_space(nlohmann::json& tokenizer) const;
  void check_llama(const nlohmann::json& tokenizer, const std::string& where) const;
  void set_lowercase(nlohmann::json& tokenizer) const;
  void add_tokens(nlohmann::json& tokenizer, const std::string& where) const;
  /// The path of the file that has a key, for messages.
  std::string file_of(const std::string& key, const std::string& otherwise) const;
  nlohmann::json declared_tokens() const;
  nlohmann::json special_tokens() const;

  nlohmann::json config_, added_, special_map_;  // objects, empty where there is no file
  std::string config_path_, added_path_, map_path_;
  std::string declared_, registered_, class_;  // without "Fast"
  std::string model_type_;
  bool lowercase_;  // texts, before all else
};

/// Reads a vocab.json of letters, transformers' VitsTokenizer.
TokenizerSpec read_vits_vocabulary(const SideFiles& side, const std::filesystem::path& path);

}  // namespace mote::convert
