// SPDX-License-Identifier: Apache-2.0
//
// Text in and out of a session.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/mote/session.h"

namespace mote::cli {

/// Throws convert::Error where the file has no tokenizer; `instead` says what to do then.
void require_tokenizer(const ModelFile& file, const char* instead);

/// Any word fits: calls run(session), where that is not null, and again with sessions of ever more room as
/// long as it says MOTE_TEXT_TOO_LONG for texts of at most so many bytes: as large as the text, then as what
/// normalization makes of it at most. Throws convert::Error.
mote_status with_text_room(const ModelFile& file, mote_session* session, size_t bytes,
                           const std::function<mote_status(mote_session*)>& run);

/// Ids of a text; `flags` of mote_tokenize. Throws convert::Error.
std::vector<int32_t> tokenize(const ModelFile& file, const Session& session, std::string_view text,
                              uint32_t flags);

/// A conversation's ids: special tokens are those of the chat format, never of what a message says.
std::vector<int32_t> tokenize_chat(const ModelFile& file, const Session& session,
                                   const std::vector<mote_message>& messages, bool answer);

/// Puts text together from ids as they come, whole characters only.
class TextStream {
 public:
  TextStream(const ModelFile& file, uint32_t flags);
  std::string next(int32_t id);
  std::string finish();

 private:
  const ModelFile& file_;
  mote_detokenizer state_ = {};
  std::string room_;
};

/// Throws convert::Error for a directory, which streams open as if it were a file.
void refuse_directory(const std::string& path);

/// Takes spaces, tabs and ends of lines off both ends.
std::string trimmed(const std::string& text);

/// A whole file, or standard input for "-". Throws convert::Error.
std::string read_text(const std::string& path);

}  // namespace mote::cli
