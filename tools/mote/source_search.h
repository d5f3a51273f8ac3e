// SPDX-License-Identifier: Apache-2.0
//
// Texts generated over a source: what translate and summarize share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mote/beams.h"
#include "tools/mote/session.h"

namespace mote::cli {

struct SourceHypothesis {
  std::vector<int32_t> ids;  // a stop id included
  float score;               // sum of log-probabilities over a power of the length
};

/// `options` as mote_model_beam_options gives them, for a context of `context` tokens, 0: the model's.
mote_beam_options bounded_search(const ModelFile& file, uint32_t context, mote_beam_options options);

/// The best hypotheses, the best first, of what follows the model's start token over sequence 0's source.
/// `memory` is kept from one search to the next. Throws convert::Error.
std::vector<SourceHypothesis> search_encoded(const ModelFile& file, Session& session,
                                             const mote_beam_options& options, std::vector<uint64_t>& memory);

/// The text of ids without special tokens.
std::string text_of_source(const ModelFile& file, const std::vector<int32_t>& ids);

/// Encodes sources one by one and searches for what follows the model's start token.
class SourceSearch {
 public:
  /// `options` as mote_model_beam_options gives them, changed or not. Throws convert::Error.
  SourceSearch(const ModelFile& file, const SessionFlags& flags, const ThreadPool& pool,
               const mote_beam_options& options);

  /// Ids of a text with the model's own tokens around it.
  std::vector<int32_t> tokenize(const std::string& text);
  /// The best hypotheses, the best first. Throws convert::Error for a source that is too long, and where
  /// Ctrl-C ended it Interrupted.
  std::vector<SourceHypothesis> search(const std::vector<int32_t>& source);
  /// Without special tokens.
  std::string text_of(const std::vector<int32_t>& ids) const;

  const Session& session() const { return *session_; }
  /// Most tokens of a source.
  uint32_t most_source() const { return most_source_; }
  const mote_beam_options& options() const { return options_; }

 private:
  void make_room(size_t tokens);

  const ModelFile& file_;
  mote_session_options session_options_;
  mote_beam_options options_;
  uint32_t most_source_ = 0;
  std::unique_ptr<Session> session_;
  std::vector<uint64_t> memory_;  // of a search
};

/// The token that stands for a language: "xx" itself, "__xx__", ">>xx<<", "<lang:xx>" or the only "xx_YY".
/// Throws convert::Error with those that there are.
int32_t language_token(const ModelFile& file, const std::string& language);
/// Whether a token's text has one of these forms, but for "xx" itself.
bool is_language_token(const ModelFile& file, int32_t id);

}  // namespace mote::cli
