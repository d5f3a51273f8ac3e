// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/text.h"

#include <algorithm>

namespace mote::host {
namespace {

/// Returns the ids of a text of so many bytes. Asks for their number first where the first room does not do.
template <class Tokenize>
Result<std::vector<int32_t>> collect_ids(const Model& model, const Session& session, size_t bytes,
                                         std::string_view what, Tokenize tokenize) {
  std::vector<int32_t> ids(bytes / 2 + 16);
  uint32_t count = 0;
  mote_error error = {};
  MOTE_TAKE(const mote_status status, with_text_room(model, session.get(), bytes, [&](mote_session* in) {
              const mote_status first =
                  tokenize(in, ids.data(), static_cast<uint32_t>(ids.size()), &count, &error);
              if (first != MOTE_TOO_SMALL) return first;
              ids.resize(count);
              return tokenize(in, ids.data(), count, &count, &error);
            }));
  MOTE_TRY(from_core(status, error, what));
  ids.resize(count);
  return ids;
}

}  // namespace

Status require_tokenizer(const Model& model, Remedy remedy) {
  if (model.has_tokenizer()) return {};
  return failed(remedy, "{} has no tokenizer, so it cannot read a text", model.name());
}

Status check_ids(const Model& model, std::span<const int32_t> ids, std::string_view what) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && static_cast<uint32_t>(ids[i]) < model.info().vocab) continue;
    return failed("{}: id {} at index {} is not in the vocabulary of {} (0 to {})", what, ids[i], i,
                  model.name(), model.info().vocab - 1);
  }
  return {};
}

Result<mote_status> with_text_room(const Model& model, mote_session* session, size_t bytes,
                                   const std::function<mote_status(mote_session*)>& run) {
  constexpr size_t kMostBytes = size_t{1} << 30, kMostExpansion = 12, kLeastRoom = 1024;
  if (bytes > kMostBytes) return failed("a text of {}; at most 1 GiB", human_bytes(bytes));
  mote_status status = session != nullptr ? run(session) : MOTE_TEXT_TOO_LONG;
  const size_t least = std::max(bytes, kLeastRoom);
  for (const size_t expansion : {size_t{1}, kMostExpansion}) {
    if (status != MOTE_TEXT_TOO_LONG || least > kMostBytes / expansion) break;
    mote_session_options options = mote_session_options_default(model.get());
    options.context = options.chunk = options.logit_rows = 1;
    options.text_bytes = static_cast<uint32_t>(least * expansion);
    MOTE_TAKE(const Session larger, Session::begin(model, options));
    status = run(larger.get());
  }
  return status;
}

Result<std::vector<int32_t>> tokenize(const Model& model, const Session& session, std::string_view text,
                                      uint32_t flags) {
  return collect_ids(model, session, text.size(), "text",
                     [&](mote_session* in, int32_t* ids, uint32_t capacity, uint32_t* count, mote_error* e) {
                       return mote_tokenize(in, text.data(), text.size(), flags, ids, capacity, count,
                                            nullptr, e);
                     });
}

Result<TokenList> list_tokens(const Model& model, std::string_view first,
                              const std::optional<std::string>& second, uint32_t flags,
                              mote_session* session) {
  TokenList tokens;
  mote_error error = {};
  const auto tokenize = [&](mote_session* in) {
    uint32_t count = 0;
    const auto run = [&] {
      return mote_tokenize_pair(in, first.data(), first.size(), second ? second->data() : nullptr,
                                second ? second->size() : 0, flags, tokens.ids.data(), count, &count,
                                tokens.spans.data(), tokens.kinds.data(), &error);
    };
    const mote_status counted = run();
    if (counted != MOTE_TOO_SMALL) return counted;
    tokens.ids.resize(count);
    tokens.spans.resize(count);
    tokens.kinds.resize(count);
    return run();
  };
  const size_t longest = std::max(first.size(), second ? second->size() : 0);
  MOTE_TAKE(const mote_status status, with_text_room(model, session, longest, tokenize));
  MOTE_TRY(from_core(status, error, model.name()));
  return tokens;
}

Result<std::vector<int32_t>> tokenize_chat(const Model& model, const Session& session,
                                           std::span<const mote_message> messages, bool answer) {
  const auto messages_count = static_cast<uint32_t>(messages.size());
  size_t bytes = 0;
  mote_error error = {};
  MOTE_TRY(from_core(mote_chat_render(model.get(), messages.data(), messages_count, answer ? 1 : 0, nullptr,
                                      0, &bytes, &error),
                     error, "chat"));
  std::string text(bytes + 1, '\0');
  return collect_ids(model, session, bytes, "chat",
                     [&](mote_session* in, int32_t* ids, uint32_t capacity, uint32_t* count, mote_error* e) {
                       return mote_chat_tokenize(in, messages.data(), messages_count, answer ? 1 : 0,
                                                 text.data(), text.size(), ids, capacity, count, e);
                     });
}

TextStream::TextStream(const Model& model)
    : model_(&model), room_(mote_detokenizer_room(model.get()), '\0') {}

Result<TextStream> TextStream::start(const Model& model, uint32_t flags) {
  TextStream stream(model);
  mote_error error = {};
  MOTE_TRY(
      from_core(mote_detokenizer_start(model.get(), flags, &stream.state_, &error), error, model.name()));
  return stream;
}

Result<std::string> TextStream::next(int32_t id) {
  size_t written = 0;
  mote_error error = {};
  MOTE_TRY(from_core(
      mote_detokenizer_next(model_->get(), &state_, id, room_.data(), room_.size(), &written, &error), error,
      "text"));
  return room_.substr(0, written);
}

Result<std::string> TextStream::finish() {
  size_t written = 0;
  mote_error error = {};
  MOTE_TRY(
      from_core(mote_detokenizer_finish(model_->get(), &state_, room_.data(), room_.size(), &written, &error),
                error, "text"));
  return room_.substr(0, written);
}

Result<std::string> text_of_ids(const Model& model, std::span<const int32_t> ids, uint32_t flags) {
  MOTE_TAKE(TextStream stream, TextStream::start(model, flags));
  std::string text;
  for (const int32_t id : ids) {
    MOTE_TAKE(const std::string part, stream.next(id));
    text += part;
  }
  MOTE_TAKE(const std::string rest, stream.finish());
  return text + rest;
}

std::vector<uint32_t> character_counts(std::string_view text) {
  std::vector<uint32_t> counts(text.size() + 1);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts = (static_cast<uint8_t>(text[i]) & 0xC0) != 0x80;
    counts[i + 1] = counts[i] + (starts ? 1 : 0);
  }
  return counts;
}

}  // namespace mote::host
