// SPDX-License-Identifier: Apache-2.0
#include "converter/chat_formats/understand.h"

#include "converter/chat_formats/probes.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

// Texts that no template holds or changes.
const std::string kSystem = "qSystemq", kUser = "qFirstq", kAnswer = "qAnswerq", kSecond = "qSecondq";

/// Why no pieces are found.
struct NoPieces {
  std::string reason;
};

std::string rendered(const ProbedTemplate& chat_template, const std::vector<ChatMessage>& messages,
                     bool answer) {
  const std::optional<std::string> text = chat_template.render(messages, answer);
  if (!text) throw NoPieces{"the template refuses a plain conversation"};
  return *text;
}

/// A text between two others, each of which occurs once.
struct Around {
  std::string before, after;
};

Around around(const std::string& text, const std::string& mark) {
  const size_t at = text.find(mark);
  if (at == std::string::npos) throw NoPieces{"the template leaves out a message"};
  if (text.find(mark, at + 1) != std::string::npos) throw NoPieces{"the template repeats a message"};
  return {text.substr(0, at), text.substr(at + mark.size())};
}

std::string without_start(const std::string& text, const std::string& start, const char* what) {
  if (!text.starts_with(start)) throw NoPieces{what};
  return text.substr(start.size());
}

std::string without_end(const std::string& text, const std::string& end, const char* what) {
  if (!text.ends_with(end)) throw NoPieces{what};
  return text.substr(0, text.size() - end.size());
}

/// Before the first question: the opening and, where the template has one, its default system message.
void derive_system(const ProbedTemplate& chat_template, const std::string& before_user, ChatFormat& format) {
  const std::string start =
      without_end(before_user, format.user_before, "the first question begins otherwise than later ones");
  if (!chat_template.takes_system()) {
    format.opening = start;
    format.system_in_user = true;
    format.system_after = "\n\n";
    return;
  }
  const std::string text = rendered(chat_template, {{"system", kSystem}, {"user", kUser}}, false);
  const Around system = around(text, kSystem);
  const std::string between = around(system.after, kUser).before;
  if (system.before.starts_with(before_user) && !between.ends_with(format.user_before)) {
    format.opening = start;
    format.system_in_user = true;
    format.system_before = system.before.substr(before_user.size());
    format.system_after = between;
    return;
  }
  format.system_after =
      without_end(between, format.user_before, "a question after a system message begins otherwise");
  if (system.before.starts_with(start)) {
    format.opening = start;
    format.system_before = system.before.substr(start.size());
    return;
  }
  const char* const otherwise = "a conversation without a system message begins with a text of its own";
  format.system_before = system.before;
  format.default_system =
      without_start(without_end(start, format.system_after, otherwise), system.before, otherwise);
}

ChatFormat derive_pieces(const ProbedTemplate& chat_template) {
  ChatFormat format;
  format.name = "derived";
  const std::string one = rendered(chat_template, {{"user", kUser}}, false);
  format.answer = without_start(rendered(chat_template, {{"user", kUser}}, true), one,
                                "the opening of the answer is not added at the end");
  const Around first = around(one, kUser);
  format.user_after = first.after;
  const std::string two = rendered(chat_template, {{"user", kUser}, {"assistant", kAnswer}}, false);
  const Around answer = around(around(two, kUser).after, kAnswer);
  format.assistant_before =
      without_start(answer.before, format.user_after, "an answer changes the question before it");
  format.assistant_after = answer.after;
  const std::string three =
      rendered(chat_template, {{"user", kUser}, {"assistant", kAnswer}, {"user", kSecond}}, false);
  format.single_turn = three.find(kUser) == std::string::npos;
  if (format.single_turn) {
    format.user_before = around(three, kSecond).before;
  } else {
    const std::string between = around(around(three, kAnswer).after, kSecond).before;
    format.user_before =
        without_start(between, format.assistant_after, "an answer ends otherwise where a question follows");
  }
  const std::string spaces = rendered(chat_template, {{"user", " " + kUser + " "}}, false);
  format.trim = spaces == one;
  derive_system(chat_template, first.before, format);
  return format;
}

UnderstoodTemplate match(const ProbedTemplate& chat_template) {
  if (chat_template.writes_date()) return {std::nullopt, "it writes the date"};
  std::optional<ChatFormat> derived;
  std::string reason;
  try {
    derived = derive_pieces(chat_template);
    if (const auto difference = chat_template.difference(*derived)) {
      reason = *difference;
      derived.reset();
    }
  } catch (const NoPieces& none) {
    reason = none.reason;
    derived.reset();
  }
  const std::string remark =
      chat_template.takes_system() ? "" : "it takes no system message; one is put before the first question";
  for (const std::string& name : chat_format_names()) {
    ChatFormat known = find_chat_format(name);
    if (derived && !known.default_system) known.default_system = derived->default_system;
    if (!chat_template.difference(known)) return {known, remark};
  }
  if (derived) return {derived, remark};
  return {std::nullopt, reason};
}

}  // namespace

UnderstoodTemplate understand_template(const std::string& chat_template, const TemplateSetting& setting) {
  try {
    return match(ProbedTemplate(chat_template, setting));
  } catch (const jinja::Unsupported& error) {
    return {std::nullopt, error.what()};
  } catch (const jinja::Refusal& error) {
    return {std::nullopt, error.what()};
  }
}

bool runs_template(const std::string& chat_template, const TemplateSetting& setting) {
  try {
    return ProbedTemplate(chat_template, setting).render({{"user", "Which city?"}}, true).has_value();
  } catch (const jinja::Unsupported&) {
    return false;
  } catch (const jinja::Refusal&) {
    return false;
  }
}

std::optional<std::string> before_pictures(const std::string& chat_template, const TemplateSetting& setting,
                                           const ChatFormat& format, const PictureMarks& marks) {
  try {
    const ProbedTemplate probed(chat_template, setting);
    const std::string plain = around(rendered(probed, {{"user", kUser}}, false), kUser).before;
    const std::string start = without_end(plain, format.user_before, "");
    const std::string text = rendered(probed, {{"user", kUser, true}}, false);
    const std::string marked = without_start(around(text, kUser).before, start, "");
    const Around picture = around(marked, marks.token);
    if (marks.completed && picture.after.empty()) return picture.before;
    if (picture.after != marks.after) return std::nullopt;
    return without_end(picture.before, marks.before, "");
  } catch (const NoPieces&) {
    return std::nullopt;
  } catch (const jinja::Unsupported&) {
    return std::nullopt;
  } catch (const jinja::Refusal&) {
    return std::nullopt;
  }
}

std::optional<std::string> difference_to(const ChatFormat& format, const std::string& chat_template,
                                         const TemplateSetting& setting) {
  try {
    const ProbedTemplate probed(chat_template, setting);
    if (probed.writes_date()) return "it writes the date";
    return probed.difference(format);
  } catch (const jinja::Unsupported& error) {
    return error.what();
  } catch (const jinja::Refusal& error) {
    return error.what();
  }
}

}  // namespace mote::convert
