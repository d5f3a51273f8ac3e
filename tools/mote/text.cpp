// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/text.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "host/base/error.h"
#include "tools/mote/output.h"

namespace mote::cli {
namespace {

/// Ids of a text of so many bytes. Asks for their number first where the first room does not do.
template <class Tokenize>
std::vector<int32_t> collect_ids(const ModelFile& file, const Session& session, size_t bytes,
                                 const std::string& what, Tokenize tokenize) {
  std::vector<int32_t> ids(bytes / 2 + 16);
  uint32_t count = 0;
  mote_error error = {};
  const mote_status status = with_text_room(file, session.get(), bytes, [&](mote_session* in) {
    const mote_status first = tokenize(in, ids.data(), static_cast<uint32_t>(ids.size()), &count, &error);
    if (first != MOTE_TOO_SMALL) return first;
    ids.resize(count);
    return tokenize(in, ids.data(), count, &count, &error);
  });
  check(status, error, what);
  ids.resize(count);
  return ids;
}

}  // namespace

void refuse_directory(const std::string& path) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) convert::fail("cannot read {}: it is a directory", path);
}

void require_tokenizer(const ModelFile& file, const char* instead) {
  if (file.info().tokens == 0) {
    convert::fail("{} has no tokenizer, so it cannot read a text; {}", file.path(), instead);
  }
}

mote_status with_text_room(const ModelFile& file, mote_session* session, size_t bytes,
                           const std::function<mote_status(mote_session*)>& run) {
  constexpr size_t kMostBytes = size_t{1} << 30, kMostExpansion = 12, kLeastRoom = 1024;
  if (bytes > kMostBytes) convert::fail("a text of {}; at most 1 GiB", human_bytes(bytes));
  mote_status status = session != nullptr ? run(session) : MOTE_TEXT_TOO_LONG;
  const size_t least = std::max(bytes, kLeastRoom);
  for (const size_t room : {least, least * kMostExpansion}) {
    if (status != MOTE_TEXT_TOO_LONG || room > kMostBytes) break;
    mote_session_options options = mote_session_options_default(file.model());
    options.context = options.chunk = options.logit_rows = 1;
    options.text_bytes = static_cast<uint32_t>(room);
    const Session larger(file, options);
    status = run(larger.get());
  }
  return status;
}

std::vector<int32_t> tokenize(const ModelFile& file, const Session& session, std::string_view text,
                              uint32_t flags) {
  return collect_ids(file, session, text.size(), "text",
                     [&](mote_session* in, int32_t* ids, uint32_t capacity, uint32_t* count, mote_error* e) {
                       return mote_tokenize(in, text.data(), text.size(), flags, ids, capacity, count,
                                            nullptr, e);
                     });
}

std::vector<int32_t> tokenize_chat(const ModelFile& file, const Session& session,
                                   const std::vector<mote_message>& messages, bool answer) {
  const auto messages_count = static_cast<uint32_t>(messages.size());
  size_t bytes = 0;
  mote_error error = {};
  check(mote_chat_render(file.model(), messages.data(), messages_count, answer ? 1 : 0, nullptr, 0, &bytes,
                         &error),
        error, "chat");
  std::string text(bytes + 1, '\0');
  return collect_ids(file, session, bytes, "chat",
                     [&](mote_session* in, int32_t* ids, uint32_t capacity, uint32_t* count, mote_error* e) {
                       return mote_chat_tokenize(in, messages.data(), messages_count, answer ? 1 : 0,
                                                 text.data(), text.size(), ids, capacity, count, e);
                     });
}

TextStream::TextStream(const ModelFile& file, uint32_t flags)
    : file_(file), room_(mote_detokenizer_room(file.model()), '\0') {
  mote_error error = {};
  check(mote_detokenizer_start(file.model(), flags, &state_, &error), error, file.path());
}

std::string TextStream::next(int32_t id) {
  size_t written = 0;
  mote_error error = {};
  check(mote_detokenizer_next(file_.model(), &state_, id, room_.data(), room_.size(), &written, &error),
        error, "text");
  return room_.substr(0, written);
}

std::string TextStream::finish() {
  size_t written = 0;
  mote_error error = {};
  check(mote_detokenizer_finish(file_.model(), &state_, room_.data(), room_.size(), &written, &error), error,
        "text");
  return room_.substr(0, written);
}

std::string read_text(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  refuse_directory(path);
  std::ifstream in(path, std::ios::binary);
  if (!in) convert::fail("cannot read {}: is it there, and may it be read?", path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) convert::fail("cannot read {}: reading failed", path);
  return text;
}

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

}  // namespace mote::cli
