// SPDX-License-Identifier: Apache-2.0
//
// Commands on a model.
#pragma once

#include <memory>

#include "tools/mote/arguments.h"
#include "tools/mote/session_flags.h"

namespace mote::cli {

/// A command and where its arguments go, which live as long as the CommandLine.
template <class Arguments>
struct ModelCommand {
  Command command;
  Arguments& arguments;
};
/// One that runs a function of its arguments, the first of which is a model's `file`.
template <class Arguments>
ModelCommand<Arguments> model_command(CommandLine& line, const char* name, const char* help,
                                      void (*run)(const Arguments&)) {
  auto arguments = std::make_shared<Arguments>();
  Command command = line.command(name, help);
  add_model_argument(command, arguments->file);
  command.callback([arguments, run] { run(*arguments); });
  return {command, *arguments};
}

}  // namespace mote::cli
