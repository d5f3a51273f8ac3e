// SPDX-License-Identifier: Apache-2.0
//
// The library's encoder of texts, whose failures are exceptions and whose notes go to standard error.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "host/tasks/text_encoder.h"
#include "tools/mote/session.h"
#include "tools/mote/text.h"

namespace mote::cli {

using host::EncodedText;

class TextEncoder {
 public:
  TextEncoder(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool, bool truncate,
              uint32_t rows_wanted = 0)
      : encoder_(take(host::TextEncoder::make(file.host(), session_choices(file, flags, pool),
                                              {truncate, rows_wanted}))) {}

  const mote_output_info& output() const { return encoder_.output(); }

  EncodedText tokenize(std::string text) { return take(encoder_.tokenize(std::move(text), hooks())); }
  EncodedText tokenize_pair(const std::string& first, std::string second, bool cut_second = false) {
    return take(encoder_.tokenize_pair(first, std::move(second), cut_second, hooks()));
  }

  /// Calls use(text's index, its first row of outputs) in order. Ctrl-C ends it with Interrupted.
  void encode(const std::vector<EncodedText>& texts, const std::function<void(size_t, uint32_t)>& use,
              const std::vector<std::vector<uint32_t>>& rows = {});

  std::vector<float> row(uint32_t index) const { return encoder_.row(index); }
  std::vector<float> probabilities(uint32_t index) const { return take(encoder_.probabilities(index)); }

 private:
  host::TextEncoder encoder_;
};

}  // namespace mote::cli
