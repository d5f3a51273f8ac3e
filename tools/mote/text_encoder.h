// SPDX-License-Identifier: Apache-2.0
//
// Texts through an encoder, as many at once as a session holds.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/mote/session.h"

namespace mote::cli {

/// A text as the model reads it.
struct EncodedText {
  std::string text;  // the whole, or the second one of a pair
  std::vector<int32_t> ids, types;
  std::vector<mote_span> spans;  // bytes of `text`; of tokens that are not of it {0, 0}
  uint32_t begin = 0, end = 0;   // tokens of `text`
};

inline constexpr size_t kLinesAtOnce = 64;  // of standard input or a file, before an encoder gets them

class TextEncoder {
 public:
  /// `truncate`: texts that are too long are cut, which a note says; otherwise they fail. `rows_wanted`: most
  /// tokens with outputs at once, 0: all. Throws convert::Error for a model that is no encoder or has no
  /// tokenizer.
  TextEncoder(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool, bool truncate,
              uint32_t rows_wanted = 0);

  const mote_output_info& output() const { return output_; }
  const Session& session() const { return session_; }

  EncodedText tokenize(std::string text) { return tokenize(nullptr, std::move(text)); }
  /// Two texts put together the model's way. Where they are too long the longer is cut, or the second alone.
  EncodedText tokenize_pair(const std::string& first, std::string second, bool cut_second = false) {
    return tokenize(&first, std::move(second), cut_second);
  }

  /// Calls use(text's index, its first row of outputs) in order. `rows`: of each text, the tokens whose
  /// outputs are wanted; empty: all.
  using Use = std::function<void(size_t, uint32_t)>;
  void encode(const std::vector<EncodedText>& texts, const Use& use,
              const std::vector<std::vector<uint32_t>>& rows = {});

  /// A row of outputs, and the same as probabilities.
  std::vector<float> row(uint32_t index) const;
  std::vector<float> probabilities(uint32_t index) const;

 private:
  EncodedText tokenize(const std::string* first, std::string text, bool cut_second = false);
  /// A pair within the model's own texts, which are read with their special tokens as the original does.
  EncodedText tokenize_asked(const std::string& first, std::string second);
  /// Ids of that, at most those that there is room for; `count`: of all.
  std::vector<int32_t> ids_of_pair(const std::string& first, const std::string& second, uint32_t& count);
  [[noreturn]] void fail_too_long(const std::string& text, uint32_t count) const;

  const ModelFile& file_;
  mote_output_info output_;
  mote_session_options options_;
  Session session_;
  std::optional<std::array<std::string, 3>> pair_texts_;
  bool truncate_;
  uint32_t most_tokens_;
};

/// Calls take(line) for each line of a file, "-" being standard input, without its end; empty lines are left
/// out.
void for_each_line(const std::string& path, const std::function<void(const std::string&)>& take);

/// Characters before each byte of a text, [bytes + 1]: what is not UTF-8 counts one for each byte that starts
/// one.
std::vector<uint32_t> character_counts(std::string_view text);

}  // namespace mote::cli
