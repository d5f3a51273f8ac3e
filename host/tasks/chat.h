// SPDX-License-Identifier: Apache-2.0
//
// A conversation, turn by turn. The session keeps what earlier turns computed: a turn is rendered and
// tokenized as a whole, and only tokens that differ from those at hand are computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/tasks/generation.h"
#include "host/tasks/vision.h"

namespace mote::host {

/// A message of a conversation.
struct ChatMessage {
  mote_role role;
  std::string_view text;
  size_t pictures;  // before its text, of a user's
};

/// Returns the ids of a conversation, up to where the answer begins.
using ChatTokenizer = std::function<Result<std::vector<int32_t>>(std::span<const ChatMessage> messages)>;

/// Returns what tokenizes by the pieces of the model's chat format, as the core renders them. Model and
/// session must outlive it.
ChatTokenizer tokenizer_of_pieces(const Model& model, const Session& session);

struct ChatOptions {
  std::optional<std::string> system;  // the system message; none: the model's own, if any
  bool slides = true;                 // a full context forgets the oldest turns; otherwise it is a failure
};

class Chat {
 public:
  /// `session` has one sequence, made of these `options`; it and the model, which has a tokenizer, must
  /// outlive the chat.
  static Chat begin(const Model& model, Session& session, const mote_session_options& options,
                    GenerationPlan plan, ChatOptions chat, ChatTokenizer tokenize);
  /// Lets messages have pictures, whose vectors have `features` numbers.
  Status take_pictures(uint32_t features);

  /// Answers a message that `pictures` stand before. Where it fails, and where the caller's stop came before
  /// the answer, the turn is forgotten.
  Status say(const std::string& text, std::vector<std::shared_ptr<const SeenPicture>> pictures,
             const Hooks& hooks, const OnToken& on_token);
  /// Begins another conversation.
  void forget() { turns_.clear(); }

  /// Returns the turns and what the session computed of them. Fails for a conversation with pictures.
  Result<std::vector<std::byte>> save() const;
  /// Takes up what save() gave for a chat with the same model, kernel family and type of cache. Where it
  /// fails the chat stays as it was.
  Status load(std::span<const std::byte> saved);

  const Answer& answer() const { return answer_; }
  size_t prompt_tokens() const { return prompt_.size(); }
  /// Returns how many tokens of the last prompt the session had.
  size_t reused() const { return reused_; }

 private:
  struct Turn {
    mote_role role;
    std::string text;
    std::vector<std::shared_ptr<const SeenPicture>> pictures = {};
  };

  Chat(const Model& model, Session& session) : model_(&model), session_(&session) {}
  Result<std::vector<int32_t>> ids() const;
  std::vector<const SeenPicture*> pictures() const;
  void drop_oldest();
  Status fit(const Hooks& hooks);
  Result<std::vector<int32_t>> reuse(const Hooks& hooks);
  Status answer_turn(const Hooks& hooks, const OnToken& on_token);

  const Model* model_;
  Session* session_;
  ChatTokenizer tokenize_;
  GenerationPlan plan_{};
  ChatOptions options_;
  uint32_t context_ = 0, chunk_ = 0;
  std::optional<PicturePrompt> picture_prompt_;
  std::vector<const SeenPicture*> held_pictures_;  // whose tokens the session has
  std::deque<Turn> turns_;
  std::vector<int32_t> held_;    // the session's tokens
  std::vector<int32_t> prompt_;  // of the last turn, the whole conversation
  size_t reused_ = 0;
  double pictures_ms_ = 0;  // that a prompt with pictures took
  Answer answer_;
};

}  // namespace mote::host
