// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/text.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include "converter/error.h"

namespace mote::cli {
namespace {

/// Asks for the number of ids first where the first room does not do.
template <class Tokenize>
std::vector<int32_t> collect_ids(size_t guess, const std::string& what, Tokenize tokenize) {
  std::vector<int32_t> ids(guess);
  uint32_t count = 0;
  mote_error error = {};
  mote_status status = tokenize(ids.data(), static_cast<uint32_t>(ids.size()), &count, &error);
  if (status == MOTE_TOO_SMALL) {
    ids.resize(count);
    status = tokenize(ids.data(), count, &count, &error);
  }
  check(status, error, what);
  ids.resize(count);
  return ids;
}

}  // namespace

void require_tokenizer(const ModelFile& file, const char* instead) {
  if (file.info().tokens == 0) {
    convert::fail("{} has no tokenizer, so it cannot read a text; {}", file.path(), instead);
  }
}

std::vector<int32_t> tokenize(const Session& session, std::string_view text, uint32_t flags) {
  return collect_ids(text.size() / 2 + 16, "text",
                     [&](int32_t* ids, uint32_t capacity, uint32_t* count, mote_error* e) {
                       return mote_tokenize(session.get(), text.data(), text.size(), flags, ids, capacity,
                                            count, nullptr, e);
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
  return collect_ids(
      bytes / 2 + 16, "chat", [&](int32_t* ids, uint32_t capacity, uint32_t* count, mote_error* e) {
        return mote_chat_tokenize(session.get(), messages.data(), messages_count, answer ? 1 : 0, text.data(),
                                  text.size(), ids, capacity, count, e);
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
  std::ifstream in(path, std::ios::binary);
  if (!in) convert::fail("cannot read {}: is it there, and may it be read?", path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) convert::fail("cannot read {}: reading failed", path);
  return text;
}

}  // namespace mote::cli
