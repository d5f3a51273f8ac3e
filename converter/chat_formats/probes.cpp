// SPDX-License-Identifier: Apache-2.0
#include "converter/chat_formats/probes.h"

namespace mote::convert {
namespace {

ChatMessage system(const char* text) { return {"system", text}; }
ChatMessage user(const char* text) { return {"user", text}; }
ChatMessage assistant(const char* text) { return {"assistant", text}; }

}  // namespace

const std::vector<Probe>& proving_probes() {
  static const std::vector<Probe> probes = {
      {"a question", {user("Which city?")}},
      {"a question after a system message", {system("Be brief."), user("Which city?")}},
      {"an answer", {user("Which city?"), assistant("Paris.")}},
      {"two turns", {user("Which city?"), assistant("Paris."), user("And\nthe other?")}},
      {"two turns after a system message",
       {system("Be brief.\nBe kind."), user("Which city?"), assistant("Paris."), user("And the other?")}},
      {"three turns", {user("One?"), assistant("Uno."), user("Two?"), assistant("Due."), user("Three?")}},
      {"three turns after a system message",
       {system("Count."), user("One?"), assistant("Uno."), user("Two?"), assistant("Due."), user("Three?"),
        assistant("Tre.")}},
      {"white space around a question", {user("  Which city?\n")}},
      {"white space around an answer", {user("Which city?"), assistant(" Paris. \n"), user("And?")}},
      {"white space around a system message", {system(" Be brief.\n\n"), user("Which city?")}},
      {"marks and braces in a question", {user("{{ a }} <b> \"c\" 'd' & \\n </s>")}},
      {"the thoughts of an earlier answer",
       {user("Which city?"), assistant("<think>\nFrance.\n</think>\n\nParis."), user("And?")}},
      {"the end of thoughts in an earlier answer",
       {user("Which city?"), assistant("France.\n</think>\n\nParis."), user("And?")}},
      {"the thoughts of the last answer",
       {user("Which city?"), assistant("<think>\nFrance.\n</think>\n\nParis.")}},
      {"two questions in a row", {user("Which city?"), user("And the other?")}},
  };
  return probes;
}

ProbedTemplate::ProbedTemplate(const std::string& chat_template, const TemplateSetting& setting)
    : template_(chat_template), setting_(setting) {
  if (setting.thinking && !template_.reads("enable_thinking")) {
    fail("--thinking: the model's chat template has no switch enable_thinking");
  }
  takes_system_ = render({system("Be brief."), user("Which city?")}, true).has_value();
}

std::optional<std::string> ProbedTemplate::render_at(const std::vector<ChatMessage>& messages, bool answer,
                                                     const jinja::Time& now) const {
  Conversation conversation;
  for (const ChatMessage& message : messages) {
    nlohmann::ordered_json content = message.text;
    if (setting_.parts) {
      content = nlohmann::ordered_json::array();
      if (message.picture) content.push_back({{"type", "image"}});
      content.push_back({{"type", "text"}, {"text", message.text}});
    }
    conversation.messages.push_back({{"role", message.role}, {"content", std::move(content)}});
  }
  conversation.answer = answer;
  conversation.now = now;
  for (const auto& [name, text] : setting_.tokens) conversation.set(name, text);
  if (setting_.thinking) conversation.set("enable_thinking", *setting_.thinking);
  try {
    return render_chat(template_, conversation);
  } catch (const jinja::Refusal&) {
    return std::nullopt;
  }
}

std::optional<std::string> ProbedTemplate::render(const std::vector<ChatMessage>& messages,
                                                  bool answer) const {
  return render_at(messages, answer, {2001, 2, 3, 4, 5, 6});
}

bool ProbedTemplate::writes_date() const {
  for (const Probe& probe : proving_probes()) {
    if (render_at(probe.messages, true, {2001, 2, 3, 4, 5, 6}) !=
        render_at(probe.messages, true, {2035, 11, 27, 19, 48, 59})) {
      return true;
    }
  }
  return false;
}

std::optional<std::string> ProbedTemplate::difference(const ChatFormat& format) const {
  size_t rendered = 0;
  for (const Probe& probe : proving_probes()) {
    for (const bool answer : {true, false}) {
      if (answer && probe.messages.back().role == "assistant") continue;
      const std::optional<std::string> text = render(probe.messages, answer);
      if (!text) continue;  // the runtime cannot refuse it; the template gives no text to compare with
      ++rendered;
      if (*text == render_pieces(format, probe.messages, answer)) continue;
      return fmt::format(
          "{}{} becomes another text", probe.what,
          answer || probe.messages.back().role == "assistant" ? "" : " without the answer's opening");
    }
  }
  if (rendered == 0) return "the template refuses every conversation";
  return std::nullopt;
}

}  // namespace mote::convert
