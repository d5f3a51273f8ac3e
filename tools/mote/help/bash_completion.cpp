// SPDX-License-Identifier: Apache-2.0
//
// A function of bash: the words that may come next go to COMPREPLY, and where it leaves that empty bash
// completes files.
#include <fmt/format.h>

#include "tools/mote/help/help_files.h"

namespace mote::cli {
namespace {

constexpr const char* kBashBegin =
    "# Completion of mote for bash, by `mote completions bash`.\n"
    "_mote() {\n"
    "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options='' values='' "
    "others=''\n"
    "  COMPREPLY=()\n"
    "  case $COMP_CWORD:${COMP_WORDS[1]} in\n";

constexpr const char* kBashEnd =
    "  esac\n"
    "  if [[ $values == - ]]; then\n"
    "    compopt +o default 2>/dev/null\n"
    "  elif [[ -n $values ]]; then\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\")\n"
    "  elif [[ $word == -* ]]; then\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
    "  elif [[ -n $others ]]; then\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$others\" -- \"$word\")\n"
    "  fi\n"
    "}\n"
    "complete -o default -F _mote mote\n";

/// Returns the lines that set what may follow the option before the cursor: choices, or "-" for nothing.
std::string bash_values(const std::vector<OptionText>& options) {
  std::string lines;
  for (const OptionText& option : options) {
    if (option.value.empty()) continue;
    if (option.choices.empty() && may_be_file(option.value)) continue;
    lines += fmt::format("        {}) values='{}' ;;\n", joined(option.names, " | "),
                         option.choices.empty() ? "-" : joined(option.choices));
  }
  return lines.empty() ? lines : "      case $before in\n" + lines + "      esac\n";
}

}  // namespace

std::string bash_completion(const HelpText& text) {
  std::vector<std::string> first;
  for (const OptionText& option : text.options) {
    first.insert(first.end(), option.names.begin(), option.names.end());
  }
  const std::string options = joined(first);
  std::vector<std::string> names;
  for (const CommandText& command : text.commands) names.push_back(command.name);
  std::string out = kBashBegin;
  out += fmt::format("    1:*)\n      options='{}'\n      others='{}'\n      ;;\n", options, joined(names));
  for (const CommandText& command : text.commands) {
    std::vector<std::string> words, others;
    for (const OptionText& option : command.options) {
      std::vector<std::string>& into = option.by_position ? others : words;
      const std::vector<std::string>& from = option.by_position ? option.choices : option.names;
      into.insert(into.end(), from.begin(), from.end());
    }
    out += fmt::format("    *:{})\n      options='{}'\n", command.name, joined(words));
    if (!others.empty()) out += fmt::format("      others='{}'\n", joined(others));
    out += bash_values(command.options) + "      ;;\n";
  }
  return out + kBashEnd;
}

}  // namespace mote::cli
