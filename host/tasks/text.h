// SPDX-License-Identifier: Apache-2.0
//
// Text in and out of a session.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/tasks/model.h"
#include "host/tasks/session.h"
#include "host/tasks/status.h"

namespace mote::host {

/// Fails where the model has no tokenizer; `remedy` says how else it gets ids.
Status require_tokenizer(const Model& model, Remedy remedy);

/// Lets any word fit: calls run(session), where that is not null, and again with sessions of ever more room
/// as long as it returns MOTE_TEXT_TOO_LONG for texts of at most so many bytes: room for the text itself,
/// then for the most that normalization makes of it. Returns the last status of run, or why there was no
/// room.
Result<mote_status> with_text_room(const Model& model, mote_session* session, size_t bytes,
                                   const std::function<mote_status(mote_session*)>& run);

/// Fails unless each id is below the model's vocabulary; `what` begins the message.
Status check_ids(const Model& model, std::span<const int32_t> ids, std::string_view what);

/// Returns the ids of a text; `flags` are those of mote_tokenize.
Result<std::vector<int32_t>> tokenize(const Model& model, const Session& session, std::string_view text,
                                      uint32_t flags);

/// Tokens of a text or of a pair, with where they come from.
struct TokenList {
  std::vector<int32_t> ids;
  std::vector<mote_span> spans;  // bytes of the text that a token is of
  std::vector<mote_token_kind> kinds;
};
/// `flags` are those of mote_tokenize_pair; no `second`: one text alone. `session`, which may be null, serves
/// texts that it has room for.
Result<TokenList> list_tokens(const Model& model, std::string_view first,
                              const std::optional<std::string>& second, uint32_t flags,
                              mote_session* session = nullptr);

/// Returns a conversation's ids: special tokens are those of the chat format, never what a message says.
Result<std::vector<int32_t>> tokenize_chat(const Model& model, const Session& session,
                                           std::span<const mote_message> messages, bool answer);

/// Puts text together from ids as they come, whole characters only.
class TextStream {
 public:
  /// `flags` are those of mote_detokenizer_start. The model must outlive the stream.
  static Result<TextStream> start(const Model& model, uint32_t flags);
  Result<std::string> next(int32_t id);
  Result<std::string> finish();

 private:
  explicit TextStream(const Model& model);

  const Model* model_;
  mote_detokenizer state_ = {};
  std::string room_;
};

/// Returns the text of ids; `flags` are those of mote_detokenizer_start.
Result<std::string> text_of_ids(const Model& model, std::span<const int32_t> ids, uint32_t flags);

/// Returns the characters before each byte of a text, [bytes + 1]. Bytes that are not UTF-8 count one for
/// each that starts a character.
std::vector<uint32_t> character_counts(std::string_view text);

}  // namespace mote::host
