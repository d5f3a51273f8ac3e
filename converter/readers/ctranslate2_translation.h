// SPDX-License-Identifier: Apache-2.0
//
// Which model CTranslate2's variables are of, and its config.json. The attributes say the layer; which
// architecture has such a layer decides the rest.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "converter/readers/ctranslate2.h"
#include "host/base/bytes.h"
#include "host/base/json_file.h"

namespace mote::convert {

/// One file's translation.
class Ct2Translation {
 public:
  Ct2Translation(const Ct2File& file, const nlohmann::json& settings, const std::vector<std::string>& tokens,
                 const std::string& where)
      : file_(file), variables_(file, where), settings_(settings), settings_file_(where), tokens_(tokens) {}

  Source run();

 private:
  void check_settings();
  void translate_bart();
  void translate_t5();
  void translate_whisper();
  void skip_attributes();

  void require_revision(uint32_t first, uint32_t last) const;
  /// An attribute of a side; older revisions have one for both.
  double attribute(const std::string& side, const std::string& name, std::optional<double> fallback = {}) {
    const std::string own = side + "/" + name;
    if (!variables_.has(own) && file_.revision < 5 && variables_.has(name)) return variables_.number(name);
    return variables_.number(own, fallback);
  }
  uint32_t heads(const std::string& side);
  std::string activation(const std::string& side);
  uint32_t layers(const std::string& side) const;
  uint64_t rows(const std::string& name) { return dimension(name, 0); }
  uint64_t dimension(const std::string& name, size_t index);
  int64_t id_of(const std::string& token) const {
    const auto found = std::find(tokens_.begin(), tokens_.end(), token);
    return found == tokens_.end() ? -1 : found - tokens_.begin();
  }
  /// Returns a token of config.json, or of an attribute of older files; null is no token.
  std::optional<std::string> token(const char* key, const char* fallback);
  bool source_adds(const char* key, const char* old) {
    if (file_.version >= 6) return settings_file_.flag(settings_, key, false);
    return variables_.number(old, 0.0) != 0;
  }
  int64_t start_id();
  void set_tokens();
  void set_scale(bool optional_flag);
  void set_embedding(const std::string& name);
  void set_positions(const std::string& side, bool learned);
  void check_scales(const std::string& side, double expected);

  const Ct2File& file_;
  Ct2Variables variables_;
  const nlohmann::json& settings_;
  JsonFile settings_file_;
  const std::vector<std::string>& tokens_;
  Source source_;
  nlohmann::json config_ = nlohmann::json::object();
};

}  // namespace mote::convert
