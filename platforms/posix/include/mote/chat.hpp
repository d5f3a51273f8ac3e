// SPDX-License-Identifier: Apache-2.0
//
// A conversation over a session.
#pragma once

#include <deque>

#include "mote/session.hpp"

namespace mote {
inline namespace v0 {

/// A conversation, rendered by the model's chat format. What the session has computed of earlier turns is
/// kept: a message computes what is new. The session must outlive the chat, and sequence 0 of it is the
/// chat's.
class Chat {
 public:
  explicit Chat(Session& session, std::string system = "") : session_(&session) {
    if (!system.empty()) add(MOTE_ROLE_SYSTEM, std::move(system));
  }

  Chat(Chat&&) = default;  // the texts stay where they are
  Chat& operator=(Chat&&) = default;

  /// Answers a message. A failed one is forgotten; one that `stopped` ended stays, with the answer so far.
  /// MOTE_CONTEXT_FULL: the conversation is longer than the session's context.
  Result<Answer> say(std::string message, const Answering& wanted = {}) {
    add(MOTE_ROLE_USER, std::move(message));
    Result<Answer> answer = answer_last(wanted);
    if (answer.ok()) {
      add(MOTE_ROLE_ASSISTANT, answer->text);
    } else {
      messages_.pop_back();
      texts_.pop_back();
    }
    return answer;
  }

 private:
  void add(mote_role role, std::string text) {
    texts_.push_back(std::move(text));
    mote_message message = {};
    message.role = role;
    message.text = texts_.back().data();
    message.bytes = texts_.back().size();
    messages_.push_back(message);
  }

  Result<Answer> answer_last(const Answering& wanted) {
    Result<std::vector<int32_t>> ids = session_->tokenize(messages_);
    if (!ids.ok()) return ids.status();
    const Result<uint32_t> kept = keep(*ids);
    if (!kept.ok()) return kept.status();
    held_ = *ids;
    Result<Answer> answer = session_->generate({ids->begin() + *kept, ids->end()}, wanted);
    if (answer.ok()) {
      held_.insert(held_.end(), answer->ids.begin(), answer->ids.end());
      answer->prompt_tokens = static_cast<uint32_t>(ids->size());
      answer->reused_tokens = *kept;
    }
    held_.resize(std::min<size_t>(held_.size(), session_->length()));
    return answer;
  }
  /// Truncates the session to what it shares with `ids`, and returns how many tokens those are, at most all
  /// but the last.
  Result<uint32_t> keep(const std::vector<int32_t>& ids) {
    uint32_t shared = 0;
    while (shared < held_.size() && shared + 1 < ids.size() && held_[shared] == ids[shared]) ++shared;
    if (session_->truncate(shared).ok()) return shared;
    const Status emptied = session_->truncate(0);  // windows and states of a fixed size keep no earlier ones
    if (!emptied.ok()) return emptied;
    return uint32_t{0};
  }

  Session* session_;
  std::deque<std::string> texts_;  // whose places stay
  std::vector<mote_message> messages_;
  std::vector<int32_t> held_;  // the tokens that the session holds
};

}  // namespace v0
}  // namespace mote
