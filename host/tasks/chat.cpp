// SPDX-License-Identifier: Apache-2.0
#include "host/tasks/chat.h"

#include <algorithm>
#include <utility>

#include "host/tasks/bounded_steps.h"
#include "host/tasks/text.h"

namespace mote::host {

ChatTokenizer tokenizer_of_pieces(const Model& model, const Session& session) {
  return [&model, &session](std::span<const ChatMessage> messages) -> Result<std::vector<int32_t>> {
    if (mote_chat_format(model.get()) == nullptr)
      return failed(Remedy::chat_format, "{} has no chat format", model.name());
    std::vector<mote_message> given;
    for (const ChatMessage& one : messages)
      given.push_back(
          {one.role, one.text.data(), one.text.size(), static_cast<uint32_t>(one.pictures), 0, {}});
    return tokenize_chat(model, session, given, true);
  };
}

Chat Chat::begin(const Model& model, Session& session, const mote_session_options& options,
                 GenerationPlan plan, ChatOptions given, ChatTokenizer tokenize) {
  Chat chat(model, session);
  chat.tokenize_ = std::move(tokenize);
  chat.plan_ = std::move(plan);
  chat.options_ = std::move(given);
  chat.context_ = options.context;
  chat.chunk_ = options.chunk;
  return chat;
}

Status Chat::take_pictures(uint32_t features) {
  MOTE_TAKE(picture_prompt_, PicturePrompt::make(*model_, features));
  return {};
}

Result<std::vector<int32_t>> Chat::ids() const {
  std::vector<ChatMessage> messages;
  if (options_.system) messages.push_back({MOTE_ROLE_SYSTEM, *options_.system, 0});
  for (const Turn& turn : turns_) messages.push_back({turn.role, turn.text, turn.pictures.size()});
  MOTE_TAKE(std::vector<int32_t> all, tokenize_(messages));
  if (!picture_prompt_) return all;
  return picture_prompt_->expand(*session_, all, pictures());
}

std::vector<const SeenPicture*> Chat::pictures() const {
  std::vector<const SeenPicture*> all;
  for (const Turn& turn : turns_) {
    for (const auto& picture : turn.pictures) all.push_back(picture.get());
  }
  return all;
}

/// Forgets the oldest question and its answer.
void Chat::drop_oldest() {
  const size_t pair = turns_.size() > 1 && turns_[1].role == MOTE_ROLE_ASSISTANT ? 2 : 1;
  turns_.erase(turns_.begin(), turns_.begin() + static_cast<std::ptrdiff_t>(pair));
}

/// Renders the prompt and makes room for an answer of one token at the least.
Status Chat::fit(const Hooks& hooks) {
  MOTE_TAKE(prompt_, ids());
  while (prompt_.size() >= context_ && options_.slides && turns_.size() > 1) {
    drop_oldest();
    MOTE_TAKE(prompt_, ids());
    if (prompt_.size() < context_)
      hooks.say("the context of {} tokens is full: the oldest turns are forgotten", context_);
  }
  if (prompt_.size() < context_) return {};
  return {MOTE_CONTEXT_FULL,
          sentence("the conversation takes {} tokens, the context has {}", prompt_.size(), context_),
          turns_.size() > 1 ? Remedy::forget_turns : Remedy::shorter_message};
}

/// Truncates the session to the tokens that it shares with the prompt; returns the rest of them, at least
/// one, or none where pictures made it compute the whole prompt.
Result<std::vector<int32_t>> Chat::reuse(const Hooks& hooks) {
  held_.resize(mote_session_length(session_->get(), 0));
  if (held_pictures_ != pictures()) held_.clear();  // ids do not tell them apart
  const auto shared =
      std::mismatch(held_.begin(), held_.end(), prompt_.begin(), prompt_.end()).first - held_.begin();
  reused_ = std::min(static_cast<size_t>(shared), prompt_.size() - 1);
  mote_error error = {};
  const auto truncate = [&] {
    return mote_session_truncate(session_->get(), 0, static_cast<uint32_t>(reused_), &error);
  };
  if (truncate() != MOTE_OK) {
    reused_ = 0;  // a sliding window keeps no earlier state
    MOTE_TRY(from_core(truncate(), error, "chat"));
  }
  std::vector<int32_t> rest = {prompt_.begin() + static_cast<std::ptrdiff_t>(reused_), prompt_.end()};
  if (!picture_prompt_ || !picture_prompt_->has_pictures(rest)) return rest;
  // Positions count pictures from the first token on.
  reused_ = 0;
  MOTE_TRY(from_core(truncate(), error, "chat"));
  const Timer timer;
  MOTE_TRY(picture_prompt_->prefill(*session_, chunk_, prompt_, pictures(), hooks));
  pictures_ms_ = timer.ms();
  return std::vector<int32_t>();
}

Status Chat::answer_turn(const Hooks& hooks, const OnToken& on_token) {
  MOTE_TRY(fit(hooks));
  pictures_ms_ = 0;
  MOTE_TAKE(const std::vector<int32_t> rest, reuse(hooks));
  MOTE_TAKE(answer_, generate(*model_, *session_, rest, plan_, hooks, on_token));
  answer_.prompt_ms += pictures_ms_;
  return {};
}

Status Chat::say(const std::string& text, std::vector<std::shared_ptr<const SeenPicture>> pictures_before,
                 const Hooks& hooks, const OnToken& on_token) {
  turns_.push_back({MOTE_ROLE_USER, text, std::move(pictures_before)});
  const Status status = answer_turn(hooks, on_token);
  if (!status.ok()) {
    turns_.pop_back();
    return status;
  }
  held_ = prompt_;
  held_pictures_ = pictures();
  held_.insert(held_.end(), answer_.ids.begin(), answer_.ids.end());
  if (answer_.ids.empty()) {  // stopped before it began
    turns_.pop_back();
    return {};
  }
  turns_.push_back({MOTE_ROLE_ASSISTANT, answer_.text});
  return {};
}

}  // namespace mote::host
