// SPDX-License-Identifier: Apache-2.0
#include "runtime/text/chat.h"

#include <string.h>

#include "runtime/error.h"
#include "runtime/exec/session.h"
#include "runtime/text/added.h"
#include "runtime/text/encode.h"

namespace mote {
namespace {

struct Text {
  const char* data;
  size_t bytes;
};

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

Text text_of(const mote_message& message, bool trim) {
  Text text{message.text, message.bytes};
  while (trim && text.bytes > 0 && is_space(text.data[text.bytes - 1])) --text.bytes;
  for (; trim && text.bytes > 0 && is_space(*text.data); ++text.data) --text.bytes;
  return text;
}

class Walk {
 public:
  Walk(const mote_model& model, const ChatSink& sink)
      : format_(*model.root->chat_format()), model_(model), sink_(sink) {}

  void markup(const flatbuffers::String* piece) {
    sink_.piece(sink_.user, piece->c_str(), piece->size(), true);
  }

  /// A message between its role's pieces; `system` stands inside it, before its text.
  void message(mote_role role, Text text, const Text* system, uint32_t pictures) {
    const flatbuffers::String* before =
        role == MOTE_ROLE_USER ? format_.user_before() : format_.assistant_before();
    if (pictures != 0 && model_.root->vision_input()->user_before() != nullptr)
      before = model_.root->vision_input()->user_before();
    markup(before);
    if (system != nullptr) this->system(*system);
    for (; pictures != 0; --pictures) picture();
    said(text);
    markup(role == MOTE_ROLE_USER ? format_.user_after() : format_.assistant_after());
  }
  void system(Text text) {
    markup(format_.system_before());
    said(text);
    markup(format_.system_after());
  }

 private:
  void picture() {
    const file::VisionInput& vision_input = *model_.root->vision_input();
    size_t bytes = 0;
    const char* token = mote_token_text(&model_, vision_input.image_id(), &bytes);
    markup(vision_input.before());
    if (token != nullptr) sink_.piece(sink_.user, token, bytes, true);
    markup(vision_input.after());
  }
  void said(Text text) { sink_.piece(sink_.user, text.data, text.bytes, false); }

  const file::ChatFormat& format_;
  const mote_model& model_;
  const ChatSink& sink_;
};

mote_status check(const mote_model* model, const mote_message* messages, uint32_t count, mote_error* error) {
  if (messages == nullptr || count == 0)
    return fail(error, MOTE_INVALID_ARGUMENT, "a conversation without messages");
  for (uint32_t i = 0; i < count; ++i) {
    if (messages[i].text == nullptr && messages[i].bytes != 0) {
      return fail(error, MOTE_INVALID_ARGUMENT, "message ", i, " has no text");
    }
    const int role = static_cast<int>(messages[i].role);
    if (role < MOTE_ROLE_SYSTEM || role > MOTE_ROLE_ASSISTANT) {
      return fail(error, MOTE_INVALID_ARGUMENT, "message ", i, " has an unknown role");
    }
    if (messages[i].pictures != 0 && (role != MOTE_ROLE_USER || model->root->vision_input() == nullptr)) {
      return fail(error, MOTE_INVALID_ARGUMENT, "message ", i, " has pictures",
                  role != MOTE_ROLE_USER ? " but is not the user's" : "; this model takes none");
    }
    if (role == MOTE_ROLE_SYSTEM && i != 0) {
      return fail(error, MOTE_INVALID_ARGUMENT, "message ", i,
                  " is a system message; only the first may be one");
    }
  }
  return MOTE_OK;
}

}  // namespace

mote_status walk_chat(const mote_model* model, const mote_message* messages, uint32_t count, bool answer,
                      const ChatSink& sink, mote_error* error) {
  const file::ChatFormat* format = model->root->chat_format();
  if (format == nullptr)
    return fail(error, MOTE_WRONG_STATE, "the file holds no chat format; give the prompt as text");
  const mote_status status = check(model, messages, count, error);
  if (status != MOTE_OK) return status;
  Walk walk(*model, sink);
  walk.markup(format->opening());

  const bool has_system = messages[0].role == MOTE_ROLE_SYSTEM;
  Text system{nullptr, 0};
  bool pending = has_system || format->default_system() != nullptr;
  if (has_system) {
    system = text_of(messages[0], format->trim());
  } else if (pending) {
    system = {format->default_system()->c_str(), format->default_system()->size()};
  }
  if (pending && !format->system_in_user()) {
    walk.system(system);
    pending = false;
  }
  uint32_t first = has_system ? 1 : 0;
  for (uint32_t i = first; format->single_turn() && i < count; ++i) {
    if (messages[i].role == MOTE_ROLE_USER) first = i;
  }
  for (uint32_t i = first; i < count; ++i) {
    const bool inside = pending && messages[i].role == MOTE_ROLE_USER;
    walk.message(messages[i].role, text_of(messages[i], format->trim()), inside ? &system : nullptr,
                 messages[i].pictures);
    pending = pending && !inside;
  }
  if (answer) walk.markup(format->answer());
  return MOTE_OK;
}

namespace {

struct Rendering {
  char* out;
  size_t capacity;
  size_t bytes;
};

void render_piece(void* user, const char* text, size_t bytes, bool) {
  Rendering& rendering = *static_cast<Rendering*>(user);
  if (rendering.out != nullptr && bytes != 0 && rendering.bytes + bytes <= rendering.capacity) {
    memcpy(rendering.out + rendering.bytes, text, bytes);
  }
  rendering.bytes += bytes;
}

/// Says whether a text has a special token in it as it is given; normalized it may have others.
bool names_special(const Tokenizer& tokenizer, const char* text, size_t bytes) {
  const auto* given = reinterpret_cast<const uint8_t*>(text);
  const auto end = static_cast<uint32_t>(bytes);
  for (const Table<TrieNode>* trie : {&tokenizer.raw_trie, &tokenizer.normal_trie}) {
    if (trie->count == 0) continue;
    for (uint32_t at = 0; at < end;) {
      const AddedMatch match = find_added(tokenizer, {trie, true, given, 0, at, end}, at, end);
      if (match.id < 0) break;
      if ((tokenizer.token_flags[static_cast<uint32_t>(match.id)] & kTokenSpecial) != 0) return true;
      at = match.end;
    }
  }
  return false;
}

/// Tokenizes a text whose special tokens count into room for `capacity` ids.
mote_status tokenize_specials(mote_session* session, const char* text, size_t bytes, TokenSink* sink,
                              mote_error* error) {
  const Given given{reinterpret_cast<const uint8_t*>(text), static_cast<uint32_t>(bytes)};
  return encode_text(session->model->tokenizer, session->text, given, nullptr, MOTE_PARSE_SPECIAL, sink,
                     error);
}

/// The special tokens of the chat format's pieces, each by itself.
struct MarkupSpecials {
  mote_session* session;
  SpecialsFound found;
};

void count_specials(void* user, const char* text, size_t bytes, bool markup) {
  MarkupSpecials& specials = *static_cast<MarkupSpecials*>(user);
  if (!markup || bytes == 0) return;
  TokenSink sink(nullptr, nullptr, nullptr, 0);
  sink.specials = specials.found;
  tokenize_specials(specials.session, text, bytes, &sink, nullptr);
  specials.found = sink.specials;
}

/// Says whether messages have brought special tokens into the whole text, of which `found` are all: by the
/// normalization of a message, or by the text beside it.
bool are_forged(const SpecialsFound& found, const SpecialsFound& of_markup) {
  return found.count > of_markup.count || (found.count == of_markup.count && found.order != of_markup.order);
}

/// Tokenizes piece by piece, where a message holds what would be a special token in the whole text.
struct PieceTokenizer {
  mote_session* session;
  int32_t* ids;
  uint32_t capacity;
  uint32_t count;
  mote_status status;
  mote_error* error;
};

void tokenize_piece(void* user, const char* text, size_t bytes, bool markup) {
  PieceTokenizer& pieces = *static_cast<PieceTokenizer*>(user);
  if (pieces.status != MOTE_OK || bytes == 0) return;
  const uint32_t room = pieces.count < pieces.capacity ? pieces.capacity - pieces.count : 0;
  uint32_t added = 0;
  pieces.status =
      mote_tokenize(pieces.session, text, bytes, markup ? MOTE_PARSE_SPECIAL : 0,
                    room == 0 ? nullptr : pieces.ids + pieces.count, room, &added, nullptr, pieces.error);
  if (pieces.status == MOTE_TOO_SMALL) pieces.status = MOTE_OK;  // counted on, refused at the end
  pieces.count += added;
}

}  // namespace
}  // namespace mote

using mote::fail;

extern "C" {

const char* mote_chat_format(const mote_model* model) {
  const mote::file::ChatFormat* format = model->root->chat_format();
  return format == nullptr ? nullptr : format->name()->c_str();
}

const char* mote_chat_template(const mote_model* model) {
  const mote::file::Purpose* purpose = mote::purpose_of(*model);
  const flatbuffers::String* text = purpose == nullptr ? nullptr : purpose->chat_template();
  return text == nullptr ? nullptr : text->c_str();
}

mote_status mote_chat_render(const mote_model* model, const mote_message* messages, uint32_t count,
                             int answer, char* out, size_t capacity, size_t* bytes, mote_error* error) {
  if (bytes == nullptr) return fail(error, MOTE_INVALID_ARGUMENT, "null pointer");
  mote::Rendering rendering{out, capacity, 0};
  const mote_status status =
      mote::walk_chat(model, messages, count, answer != 0, {&rendering, mote::render_piece}, error);
  if (status != MOTE_OK) return status;
  *bytes = rendering.bytes;
  if (out != nullptr && rendering.bytes > capacity) {
    return fail(error, MOTE_TOO_SMALL, "the conversation takes ", uint64_t{rendering.bytes}, " bytes, given ",
                uint64_t{capacity});
  }
  return MOTE_OK;
}

mote_status mote_chat_tokenize(mote_session* session, const mote_message* messages, uint32_t count,
                               int answer, char* text, size_t text_capacity, int32_t* ids, uint32_t capacity,
                               uint32_t* id_count, mote_error* error) {
  if (text == nullptr || id_count == nullptr || (ids == nullptr && capacity != 0)) {
    return fail(error, MOTE_INVALID_ARGUMENT, "mote_chat_tokenize: null pointer");
  }
  const mote_model* model = session->model;
  size_t bytes = 0;
  mote_status status = mote_chat_render(model, messages, count, answer, text, text_capacity, &bytes, error);
  if (status != MOTE_OK) return status;
  bool literal = false;
  for (uint32_t i = 0; i < count; ++i) {
    literal = literal || mote::names_special(model->tokenizer, messages[i].text, messages[i].bytes);
  }
  if (!literal) {
    status = mote_tokenize(session, text, 0, 0, nullptr, 0, id_count, nullptr, error);  // whether it can
    if (status != MOTE_OK) return status;
    if (bytes >= UINT32_MAX) return fail(error, MOTE_INVALID_ARGUMENT, "mote_chat_tokenize: text of 4 GiB");
    mote::TokenSink sink(ids, nullptr, nullptr, capacity);
    status = mote::tokenize_specials(session, text, bytes, &sink, error);
    mote::MarkupSpecials of_markup{session, {}};
    mote::walk_chat(model, messages, count, answer != 0, {&of_markup, mote::count_specials}, nullptr);
    *id_count = sink.count;
    if (!mote::are_forged(sink.specials, of_markup.found)) return status;
  }
  mote::PieceTokenizer pieces{session, ids, capacity, 0, MOTE_OK, error};
  status = mote::walk_chat(model, messages, count, answer != 0, {&pieces, mote::tokenize_piece}, error);
  if (status == MOTE_OK) status = pieces.status;
  *id_count = pieces.count;
  if (status == MOTE_OK && pieces.count > capacity) {
    return fail(error, MOTE_TOO_SMALL, "the conversation takes ", pieces.count, " ids, given room for ",
                capacity);
  }
  return status;
}

}  // extern "C"
