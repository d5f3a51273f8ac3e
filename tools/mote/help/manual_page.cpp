// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tools/mote/help/help_files.h"

namespace mote::cli {
namespace {

/// Returns the text with what roff would read as its own written as characters.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '"':
        out += "\\(dq";
        break;
      default:
        out += c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

/// Returns the paragraph of an option: its names and value, then what it means.
std::string option_paragraph(const OptionText& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += (names.empty() ? "" : ", ") + ((option.by_position ? "\\fI" : "\\fB") + roff(name) + "\\fR");
  }
  if (!option.value.empty()) names += " \\fI" + roff(option.value) + "\\fR";
  std::string help = option.help;
  if (option.by_position && !option.required) help += " (may be left out)";
  if (!option.choices.empty()) help += " (" + joined(option.choices, ", ") + ")";
  return ".TP\n" + names + "\n" + roff(help) + "\n";
}

std::string command_section(const CommandText& command) {
  std::string usage = "\\fBmote " + roff(command.name) + "\\fR [\\fIOPTION\\fR]...";
  std::string first, others;
  for (const OptionText& option : command.options) {
    if (!option.by_position) {
      others += option_paragraph(option);
      continue;
    }
    first += option_paragraph(option);
    const std::string name = "\\fI" + roff(option.names[0]) + "\\fR" + (option.several ? "..." : "");
    usage += option.required ? " " + name : " [" + name + "]";
  }
  return fmt::format(".SS mote {}\n{}\n.PP\n{}.\n{}{}", roff(command.name), usage, roff(command.help), first,
                     others);
}

}  // namespace

std::string manual_page(const HelpText& text, std::string_view version) {
  std::string out = ".\\\" SPDX-License-Identifier: Apache-2.0\n.\\\" By `mote manual`.\n";
  out += fmt::format(".TH MOTE 1 \"\" \"mote {}\" \"User Commands\"\n", version);
  out += ".SH NAME\nmote \\- run transformers without a heap\n.SH SYNOPSIS\n";
  out += "\\fBmote\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n";
  out += ".SH DESCRIPTION\n" + roff(text.help) + "\n.SH OPTIONS\n";
  for (const OptionText& option : text.options) out += option_paragraph(option);
  out += ".SH COMMANDS\n";
  for (const CommandText& command : text.commands) out += command_section(command);
  out += ".SH EXIT STATUS\n" + roff(text.exit_codes) + "\n.SH ENVIRONMENT\n" + roff(text.environment) + "\n";
  return out;
}

}  // namespace mote::cli
