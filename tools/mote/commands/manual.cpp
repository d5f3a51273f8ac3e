// SPDX-License-Identifier: Apache-2.0
//
// mote manual: the page that `man mote` shows.
#include "mote/mote.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/help/help_files.h"
#include "tools/mote/output.h"

namespace mote::cli {

void add_manual(CommandLine& line) {
  Command command = line.command("manual", "Print the manual page, for man");
  command.callback([&line] { write_output(manual_page(line.help_text(), mote_version())); });
}

}  // namespace mote::cli
