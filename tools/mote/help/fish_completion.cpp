// SPDX-License-Identifier: Apache-2.0
//
// Lines of fish's `complete`, each with the condition under which it holds.
#include <fmt/format.h>

#include "tools/mote/help/help_files.h"

namespace mote::cli {
namespace {

std::string fish_quoted(std::string_view text) { return "'" + escaped(text, "'\\") + "'"; }

std::string fish_line(const std::string& condition, const OptionText& option) {
  std::string line = "complete -c mote -n " + fish_quoted(condition);
  for (const std::string& name : option.names) {
    if (option.by_position) continue;
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  const bool takes_value = option.by_position || !option.value.empty();
  const bool file = option.by_position || may_be_file(option.value);
  if (!option.choices.empty()) {
    line += (option.by_position ? " -a " : " -x -a ") + fish_quoted(joined(option.choices));
  } else if (takes_value) {
    line += !file ? " -x" : option.by_position ? " -F" : " -r -F";
  }
  return line + " -d " +
         fish_quoted(option.by_position ? option.names[0] + ": " + option.help : option.help) + "\n";
}

}  // namespace

std::string fish_completion(const HelpText& text) {
  const std::string before = "__fish_use_subcommand";
  std::string out = "# Completion of mote for fish, by `mote completions fish`.\ncomplete -c mote -f\n";
  for (const OptionText& option : text.options) out += fish_line(before, option);
  for (const CommandText& command : text.commands) {
    out +=
        fmt::format("complete -c mote -n {} -a {} -d {}\n", before, command.name, fish_quoted(command.help));
  }
  for (const CommandText& command : text.commands) {
    for (const OptionText& option : command.options) {
      out += fish_line("__fish_seen_subcommand_from " + command.name, option);
    }
  }
  return out;
}

}  // namespace mote::cli
