// SPDX-License-Identifier: Apache-2.0
//
// Conversations as ids by the chat template that a model's file keeps, rendered whole as transformers renders
// it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/chat/conversation.h"
#include "host/tasks/chat.h"
#include "host/tasks/model.h"
#include "host/tasks/session.h"

namespace mote::convert {

class ModelTemplate {
 public:
  /// Returns the template of a model's file, with its variables; nothing where the file has none. Throws
  /// Error for one that cannot be run.
  static std::optional<ModelTemplate> of(const host::Model& model);

  /// Sets what the template sees besides the messages, such as enable_thinking.
  void set(const std::string& name, nlohmann::ordered_json value) { variables_.set(name, std::move(value)); }

  /// Returns the template's text. Throws jinja::Refusal, and Error for what it cannot run.
  std::string render(const Conversation& conversation) const;

  /// Returns the ids of the template's text. Special tokens are those that the template writes: what a
  /// message says is text, even if it looks like one or is normalized to one. Throws as render() does.
  host::Result<std::vector<int32_t>> tokenize(const host::Model& model, const host::Session& session,
                                              const Conversation& conversation) const;

 private:
  ModelTemplate(const std::string& text, std::vector<std::string> specials)
      : template_(std::make_shared<const jinja::Template>(text)),
        specials_(std::make_shared<const std::vector<std::string>>(std::move(specials))) {}

  std::shared_ptr<const jinja::Template> template_;
  std::shared_ptr<const std::vector<std::string>> specials_;  // texts of special tokens
  Conversation variables_;                                    // without messages
};

/// Returns the ids of a conversation by the template of a model's file. Fails where it has none, where the
/// template refuses and where it cannot be run on this conversation. Throws Error for one that is no
/// template.
host::Result<std::vector<int32_t>> tokenize_messages(
    const host::Model& model, const host::Session& session, Conversation conversation,
    const std::vector<std::pair<std::string, nlohmann::ordered_json>>& variables = {});

/// Returns how a host tokenizes conversations with a model: by its template and, for messages with pictures
/// and where the template refuses the conversation, by its pieces; by these alone where the file has no
/// template. Fails where it has neither. Model and session must outlive it. Throws Error for a template that
/// cannot be run.
host::Result<host::ChatTokenizer> chat_tokenizer(
    const host::Model& model, const host::Session& session,
    const std::vector<std::pair<std::string, nlohmann::ordered_json>>& variables = {});

}  // namespace mote::convert
