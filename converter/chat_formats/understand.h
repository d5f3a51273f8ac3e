// SPDX-License-Identifier: Apache-2.0
//
// From a chat template to pieces around messages. The template is rendered for conversations whose texts are
// marks; what stands between the marks are the pieces. Known formats and derived pieces are taken only if
// they give the template's own text for every conversation of a list: with and without a system message, of
// one to three turns, with and without the answer's opening, with white space and with thoughts.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "converter/chat_formats/chat_format.h"

namespace mote::convert {

struct TemplateSetting {
  std::vector<std::pair<std::string, std::string>> tokens = {};  // bos_token, eos_token ...
  std::optional<bool> thinking = {};                             // the variable enable_thinking
  bool parts = false;  // contents are lists of parts, as processors of pictures give them
};

struct UnderstoodTemplate {
  std::optional<ChatFormat> format;
  /// Why there is none; with a format, what it does that the template refuses, or empty.
  std::string remark;
};

/// Throws Error where a setting has no effect: `thinking` without that variable in the template.
UnderstoodTemplate understand_template(const std::string& chat_template, const TemplateSetting& setting);

/// Says that the template can be run: it renders a question.
bool runs_template(const std::string& chat_template, const TemplateSetting& setting);

/// How a format's text differs from the template's, or nothing.
std::optional<std::string> difference_to(const ChatFormat& format, const std::string& chat_template,
                                         const TemplateSetting& setting);

/// The marks of a question that begins with a picture, whose token is `token`. The template or, where
/// `completed`, the processor puts `before` and `after` around the token. before_pictures() returns the text
/// before such a question; nothing where the template has it otherwise.
struct PictureMarks {
  std::string token, before, after;
  bool completed;
};
std::optional<std::string> before_pictures(const std::string& chat_template, const TemplateSetting& setting,
                                           const ChatFormat& format, const PictureMarks& marks);

}  // namespace mote::convert
