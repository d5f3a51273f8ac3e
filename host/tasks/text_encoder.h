// SPDX-License-Identifier: Apache-2.0
//
// Texts through an encoder, as many at once as a session holds.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/tasks/hooks.h"
#include "host/tasks/outputs.h"
#include "host/tasks/session.h"
#include "host/tasks/status.h"

namespace mote::host {

/// A text as the model reads it.
struct EncodedText {
  std::string text;  // the whole, or the second one of a pair
  std::vector<int32_t> ids, types;
  std::vector<mote_span> spans;  // bytes of `text`; of tokens that are not of it {0, 0}
  uint32_t begin = 0, end = 0;   // tokens of `text`
};

struct TextEncoderOptions {
  bool truncate = false;     // texts that are too long are cut, which a note says; otherwise they fail
  uint32_t rows_wanted = 0;  // most tokens with outputs at once; 0: all
};

class TextEncoder {
 public:
  /// Fails for a model that is no encoder or has no tokenizer. The model must outlive the encoder.
  static Result<TextEncoder> make(const Model& model, const SessionChoices& choices,
                                  const TextEncoderOptions& options);

  const Model& model() const { return *model_; }
  const mote_output_info& output() const { return model_->output(); }
  const Session& session() const { return session_; }

  Result<EncodedText> tokenize(std::string text, const Hooks& hooks) const {
    return tokenize(nullptr, std::move(text), false, hooks);
  }
  /// Puts two texts together the model's way. Where they are too long the longer is cut, or the second alone.
  Result<EncodedText> tokenize_pair(const std::string& first, std::string second, bool cut_second,
                                    const Hooks& hooks) const {
    return tokenize(&first, std::move(second), cut_second, hooks);
  }

  /// Calls use(text's index, its first row of outputs) in order. `rows`: of each text, the tokens whose
  /// outputs are wanted; empty: all.
  using Use = std::function<void(size_t, uint32_t)>;
  Status encode(const std::vector<EncodedText>& texts, const Hooks& hooks, const Use& use,
                const std::vector<std::vector<uint32_t>>& rows = {});

  /// Returns a row of outputs.
  std::vector<float> row(uint32_t index) const { return output_row(*model_, session_, index); }
  Result<std::vector<float>> probabilities(uint32_t index) const {
    return output_probabilities(*model_, session_, index);
  }

 private:
  explicit TextEncoder(const Model& model) : model_(&model) {}
  Result<EncodedText> tokenize(const std::string* first, std::string text, bool cut_second,
                               const Hooks& hooks) const;
  Result<EncodedText> tokenize_asked(const std::string& first, std::string second, const Hooks& hooks) const;
  struct PairIds {
    std::vector<int32_t> ids;  // at most those that there is room for
    uint32_t count;            // of all
  };
  Result<PairIds> ids_of_pair(const std::string& first, const std::string& second) const;
  Status too_long(const std::string& text, uint32_t count) const;

  const Model* model_;
  mote_session_options options_{};
  Session session_;
  std::optional<std::array<std::string, 3>> pair_texts_;
  bool truncate_ = false;
  uint32_t most_tokens_ = 0;
};

}  // namespace mote::host
