// SPDX-License-Identifier: Apache-2.0
//
// mote demo: a home command becomes JSON, by the model that comes with the command.
#include "tools/mote/commands/commands.h"
#include "tools/mote/help/help_files.h"
#include "tools/mote/host_model.h"
#include "tools/mote/output.h"
#include "tools/mote/shared_files.h"
#include "tools/mote/signals.h"

namespace mote::cli {
namespace {

void show_demo(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "turn the kitchen lights to 30 percent" : joined(words);
  const SessionFlags flags;
  HostModel model(shared_file("commands.mote"), flags);
  model.begin();
  note("> {}", command);
  const mote_host_input input = text_input(command);
  HostCalls calls;
  calls.on_text = [](std::string_view part, int32_t) {
    write_output(part);
    flush_output();
  };
  const InterruptGuard guard;
  calls.take(mote_host_generate(model.get(), &input, 1, R"({"chat":true})", calls.get()));
  print("\n");
  flush_output();
  note("next: mote chat {}", model.path());
}

}  // namespace

void add_demo(CommandLine& line) {
  const auto words = std::make_shared<std::vector<std::string>>();
  Command command = line.command("demo", "Turn a home command into JSON, by the model that comes with mote");
  command.option("TEXT", words.get(), "The command (default: turn the kitchen lights to 30 percent)")
      .type("");
  command.callback([words] { show_demo(*words); });
}

}  // namespace mote::cli
