// SPDX-License-Identifier: Apache-2.0
//
// A chat template, asked for its text of conversations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "converter/chat_formats/pieces.h"
#include "converter/chat_formats/understand.h"
#include "host/chat/conversation.h"

namespace mote::convert {

struct Probe {
  const char* what;  // "three turns", for messages
  std::vector<ChatMessage> messages;
};

class ProbedTemplate {
 public:
  /// Throws jinja::Refusal, jinja::Unsupported and, for a setting without effect, Error.
  ProbedTemplate(const std::string& chat_template, const TemplateSetting& setting);

  /// The template's text, or nothing where it refuses the conversation. Throws jinja::Unsupported.
  std::optional<std::string> render(const std::vector<ChatMessage>& messages, bool answer) const;
  /// Says whether the text depends on the day.
  bool writes_date() const;
  bool takes_system() const { return takes_system_; }
  /// Compares a format with the template over all probes.
  std::optional<std::string> difference(const ChatFormat& format) const;

 private:
  std::optional<std::string> render_at(const std::vector<ChatMessage>& messages, bool answer,
                                       const jinja::Time& now) const;

  jinja::Template template_;
  TemplateSetting setting_;
  bool takes_system_ = true;
};

/// Conversations that a format has to render as the template does.
const std::vector<Probe>& proving_probes();

}  // namespace mote::convert
