// SPDX-License-Identifier: Apache-2.0
//
// A function of zsh over _arguments, whose specifications are '-p+[help]:value:what completes it'.
#include <fmt/format.h>

#include "tools/mote/help/help_files.h"

namespace mote::cli {
namespace {

/// Returns the text in single quotes.
std::string zsh_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string zsh_action(const OptionText& option) {
  if (!option.choices.empty()) return "(" + joined(option.choices) + ")";
  return option.by_position || may_be_file(option.value) ? "_files" : " ";
}

/// Returns the specifications of an option, one for each of its names.
std::string zsh_specifications(const OptionText& option) {
  std::string lines;
  if (option.by_position) {
    const std::string spec = fmt::format("{}:{}:{}", option.several ? "*" : "1",
                                         escaped(option.names[0], ":\\"), zsh_action(option));
    return " \\\n        " + zsh_quoted(spec);
  }
  for (const std::string& name : option.names) {
    std::string spec = option.several ? "*" : "(" + joined(option.names) + ")";
    spec += name;
    if (!option.value.empty()) spec += name.starts_with("--") ? "=" : "+";
    spec += "[" + escaped(option.help, "[]\\") + "]";
    if (!option.value.empty())
      spec += fmt::format(":{}:{}", escaped(option.value, ":\\"), zsh_action(option));
    lines += " \\\n        " + zsh_quoted(spec);
  }
  return lines;
}

}  // namespace

std::string zsh_completion(const HelpText& text) {
  std::string out =
      "#compdef mote\n"
      "# Completion of mote for zsh, by `mote completions zsh`.\n"
      "_mote() {\n"
      "  local curcontext=$curcontext state line\n"
      "  local -a commands\n"
      "  typeset -A opt_args\n"
      "  commands=(\n";
  for (const CommandText& command : text.commands) {
    out += fmt::format("    {}\n", zsh_quoted(command.name + ":" + escaped(command.help, ":\\")));
  }
  out += "  )\n  _arguments -C";
  for (const OptionText& option : text.options) out += zsh_specifications(option);
  out +=
      " \\\n        '1: :->command' \\\n        '*:: :->words'\n"
      "  case $state in\n"
      "    command) _describe -t commands command commands ;;\n"
      "    words)\n"
      "      case $line[1] in\n";
  for (const CommandText& command : text.commands) {
    out += fmt::format("      {})\n        _arguments", command.name);
    for (const OptionText& option : command.options) out += zsh_specifications(option);
    out += "\n        ;;\n";
  }
  return out + "      esac\n      ;;\n  esac\n}\n_mote \"$@\"\n";
}

}  // namespace mote::cli
