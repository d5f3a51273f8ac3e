// SPDX-License-Identifier: Apache-2.0
//
// mote completions: what a shell reads to complete mote's commands and options.
#include <memory>

#include "tools/mote/commands/commands.h"
#include "tools/mote/help/help_files.h"
#include "tools/mote/output.h"

namespace mote::cli {

void add_completions(CommandLine& line) {
  const auto shell = std::make_shared<std::string>();
  Command command = line.command("completions", "Print what a shell reads to complete commands and options");
  command.option("SHELL", shell.get(), "The shell").type("").one_of({"bash", "zsh", "fish"}).required();
  command.callback([&line, shell] {
    const HelpText text = line.help_text();
    write_output(*shell == "bash"  ? bash_completion(text)
                 : *shell == "zsh" ? zsh_completion(text)
                                   : fish_completion(text));
  });
}

}  // namespace mote::cli
