// SPDX-License-Identifier: Apache-2.0
//
// mote template: what a chat template makes of a conversation, to the byte.
#include <memory>
#include <optional>

#include "tools/mote/commands/commands.h"
#include "tools/mote/host_model.h"
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
  const std::string source = read_text(arguments.file), messages = read_text(arguments.messages);
  mote_host_input inputs[] = {text_input(source), text_input(messages)};
  inputs[0].path = arguments.file.c_str();
  inputs[1].path = arguments.messages.c_str();
  nlohmann::ordered_json options = {{"no-answer", arguments.no_answer},
                                    {"set", given_variables(arguments.variables)}};
  if (arguments.date) options["date"] = *arguments.date;
  write_output(HostResult(mote_host_template(inputs, 2, options.dump().c_str())).text());
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
