// SPDX-License-Identifier: Apache-2.0
//
// mote template: what a chat template makes of a conversation, to the byte.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "host/base/error.h"
#include "host/chat/conversation.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/output.h"
#include "tools/mote/template_variables.h"
#include "tools/mote/text.h"

namespace mote::cli {
namespace {

struct TemplateArguments {
  std::string file, messages;
  std::vector<std::string> variables;
  std::optional<std::string> date;
  bool no_answer = false;
};

void render(const TemplateArguments& arguments) {
  const std::string source = read_text(arguments.file);
  convert::Conversation conversation =
      convert::read_conversation(read_text(arguments.messages), arguments.messages);
  if (arguments.no_answer) conversation.answer = false;
  if (arguments.date) conversation.now = convert::jinja::parse_time(*arguments.date);
  for (auto& [name, value] : given_variables(arguments.variables)) conversation.set(name, std::move(value));
  try {
    write_output(convert::render_chat(convert::jinja::Template(source), conversation));
  } catch (const convert::jinja::Unsupported& error) {
    convert::fail("{}: not understood: {}", arguments.file, error.what());
  } catch (const convert::jinja::Refusal& error) {
    convert::fail("{}: refused: {}", arguments.file, error.what());
  }
}

}  // namespace

void add_template(CommandLine& line) {
  auto arguments = std::make_shared<TemplateArguments>();
  Command command = line.command("template", "Print what a chat template makes of a conversation");
  command.option("TEMPLATE", &arguments->file, "A template in Jinja, as in chat_template.jinja")
      .type("")
      .required();
  command
      .option("--messages", &arguments->messages,
              "JSON: a list of messages, or an object with messages, tools, documents and variables")
      .type("FILE")
      .required();
  command.flag("--no-answer", &arguments->no_answer, "Leave out what begins the answer");
  add_variables_option(command, arguments->variables);
  command.option("--date", &arguments->date, "What strftime_now sees, as 2026-11-25T09:30:00 (default: now)")
      .type("ISO");
  command.callback([arguments] { render(*arguments); });
}

}  // namespace mote::cli
