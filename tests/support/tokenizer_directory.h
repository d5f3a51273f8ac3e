// SPDX-License-Identifier: Apache-2.0
//
// A model's directory without weights: what its tokenizer is read of.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "converter/readers/readers.h"
#include "converter/tokenizers/tokenizer_spec.h"
#include "host/base/error.h"
#include "tests/support/files.h"

namespace mote::testing {

/// A temporary directory with a tokenizer's files, of a model of this config.json.
class TokenizerDirectory {
 public:
  explicit TokenizerDirectory(const nlohmann::json& config) {
    source_.format = "hf";
    source_.directory = root_.path();
    source_.config = std::make_shared<const nlohmann::json>(config);
  }
  TokenizerDirectory& file(const std::string& name, const nlohmann::json& content) {
    return text(name, content.dump());
  }
  TokenizerDirectory& text(const std::string& name, const std::string& content) {
    write_text(root_ / name, content);
    return *this;
  }
  convert::TokenizerSpec read(bool encoder = false) const {
    return convert::read_tokenizer(source_, encoder).value();
  }
  /// What reading a decoder's tokenizer says; "" if it is taken.
  std::string error() const {
    return message_of<convert::Error>([&] { read(); });
  }

 private:
  TempDirectory root_;
  convert::Source source_;
};

}  // namespace mote::testing
