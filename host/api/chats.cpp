// SPDX-License-Identifier: Apache-2.0
//
// mote/host.h: conversations.
#include <memory>
#include <mutex>
#include <utility>

#include "host/api/answers.h"
#include "host/api/grammar_options.h"
#include "host/api/guesses.h"
#include "host/api/result.h"
#include "host/base/system.h"
#include "host/chat/model_template.h"
#include "host/tasks/chat.h"
#include "host/tasks/text.h"
#include "mote/mote.h"

namespace mote::api {
namespace {

constexpr uint32_t kChatTokens = 1024;  // of an answer, at most, by default

}  // namespace
}  // namespace mote::api

/// A conversation with threads and a session of its own.
struct mote_host_chat {
  explicit mote_host_chat(mote_host& of) : model(of), threads(of.settings.threads) { ++model.chats; }
  ~mote_host_chat() {
    model.chat_bytes -= counted;
    --model.chats;
  }
  /// Counts the memory of its sessions as the model's.
  void count_memory() {
    counted = session.arena_bytes() + (draft ? draft->arena_bytes() : 0);
    model.chat_bytes += counted;
  }

  mote_host& model;
  const uint32_t process = mote::convert::process_number();
  std::mutex busy;
  mote::api::Threads threads;
  mote::host::Session session;
  std::optional<mote::host::Draft> draft;
  std::optional<mote::host::Chat> chat;
  size_t counted = 0;  // bytes
};

namespace mote::api {
namespace {

host::Status begin_chat(mote_host& model, const char* json_options, Reply& reply, mote_host_chat** begun) {
  Options options(json_options);
  const host::GenerationOptions generation = generation_options(options, kChatTokens);
  host::ChatOptions chat_options;
  options.read("system", chat_options.system);
  std::string context_full = "slide";
  options.read_word("context-full", context_full, {"stop", "slide"});
  const grammar::GrammarRequest request = grammar_options(options);
  if (request.heal) throw OptionError("option \"heal\": a conversation's prompt ends with its format");
  const Variables variables = template_options(options);
  options.finish();
  chat_options.slides = context_full == "slide";
  if (model.model->has_source()) return host::failed("{} holds no conversations", model.model->name());
  auto chat = std::make_unique<mote_host_chat>(model);
  host::SessionChoices choices = model.choices(chat->threads.platform());
  choices.logit_rows = generation.speculation.logit_rows();
  const mote_session_options session = host::session_options(*model.model, choices);
  host::GenerationPlan plan = host::plan_generation(*model.model, generation, true);
  MOTE_TAKE(plan.grammar, plan_grammar(model, request));
  MOTE_TAKE(chat->session, host::Session::begin(*model.model, session));
  MOTE_TAKE(chat->draft,
            begin_draft(model, chat->threads.platform(), plan.speculation, chat->session, session.context));
  plan.draft = chat->draft ? &*chat->draft : nullptr;
  reply.json = session_json(chat->session, session, plan);
  chat->count_memory();
  MOTE_TRY(host::require_tokenizer(*model.model, host::Remedy::run_ids));
  MOTE_TAKE(host::ChatTokenizer tokenize, convert::chat_tokenizer(*model.model, chat->session, variables));
  if (model.model->encodes()) return host::failed("{} holds no conversations", model.model->name());
  chat->chat = host::Chat::begin(*model.model, chat->session, session, std::move(plan),
                                 std::move(chat_options), std::move(tokenize));
  if (!model.settings.vision.empty()) {
    MOTE_TAKE(const host::Model* const tower, model.vision_tower());
    MOTE_TRY(chat->chat->take_pictures(tower->output().width));
  }
  *begun = chat.release();
  return {};
}

/// Runs body(chat) while no other call does.
template <class Body>
host::Status with_chat(mote_host_chat* chat, Body body) {
  if (chat == nullptr) return host::failed("no chat: a null pointer");
  if (chat->process != mote::convert::process_number()) {
    return {MOTE_WRONG_STATE,
            "this process is a fork of the one that began the chat, whose threads it has not: begin another "
            "chat"};
  }
  const std::unique_lock lock(chat->busy, std::try_to_lock);
  if (!lock.owns_lock()) return {MOTE_WRONG_STATE, "the chat is busy with another call"};
  return body(*chat);
}

}  // namespace
}  // namespace mote::api

using mote::api::Reply;
using mote::api::respond;
using mote::host::Status;

mote_host_result* mote_host_chat_begin(mote_host* model, const char* options, mote_host_chat** chat) {
  return respond([&](Reply& reply) -> Status {
    if (chat == nullptr) return mote::host::failed("no place for the chat: a null pointer");
    *chat = nullptr;
    MOTE_TRY(mote::api::require(model));
    return mote::api::begin_chat(*model, options, reply, chat);
  });
}

mote_host_result* mote_host_chat_say(mote_host_chat* chat, const mote_host_input* inputs, size_t count,
                                     const mote_host_calls* calls) {
  return respond([&](Reply& reply) {
    return mote::api::with_chat(chat, [&](mote_host_chat& held) -> Status {
      const mote::api::Inputs given = mote::api::inputs_of(inputs, count, 1);
      const mote::host::Hooks hooks = mote::api::hooks_of(held.model, calls);
      const std::string text = mote::api::text_of(given[0]);
      MOTE_TAKE(auto pictures,
                mote::api::see_pictures(held.model, held.threads.platform(), given.subspan(1), hooks));
      MOTE_TRY(held.chat->say(text, std::move(pictures), hooks, mote::api::on_token_of(calls)));
      reply.json = mote::api::answer_json(held.chat->answer(), held.chat->prompt_tokens());
      reply.json["reused_tokens"] = held.chat->reused();
      return {};
    });
  });
}

mote_host_result* mote_host_chat_reset(mote_host_chat* chat) {
  return respond([&](Reply&) {
    return mote::api::with_chat(chat, [](mote_host_chat& held) -> Status {
      held.chat->forget();
      return {};
    });
  });
}

mote_host_result* mote_host_chat_save(mote_host_chat* chat) {
  return respond([&](Reply& reply) {
    return mote::api::with_chat(chat, [&](mote_host_chat& held) -> Status {
      MOTE_TAKE(reply.bytes, held.chat->save());
      return {};
    });
  });
}

mote_host_result* mote_host_chat_load(mote_host_chat* chat, const void* data, uint64_t bytes) {
  return respond([&](Reply&) {
    return mote::api::with_chat(chat, [&](mote_host_chat& held) -> Status {
      if (data == nullptr || bytes > SIZE_MAX) return mote::host::failed("no bytes of a saved chat");
      return held.chat->load({static_cast<const std::byte*>(data), static_cast<size_t>(bytes)});
    });
  });
}

void mote_host_chat_end(mote_host_chat* chat) {
  if (chat == nullptr || chat->process != mote::convert::process_number())
    return;  // a child leaves its parent's
  delete chat;
}
