// SPDX-License-Identifier: Apache-2.0
//
// mote depth: how far away each pixel of a picture is, as a picture of grey.
#include "host/base/ending.h"
#include "host/base/output_file.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/host_model.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/picture_flags.h"
#include "tools/mote/signals.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct DepthArguments {
  std::string file, picture, output, size;
  bool json = false;
  SessionFlags session;
};

/// Refuses names that another kind of file would have, and standard output, which "-" means elsewhere.
void check_png_name(const std::string& output) {
  if (convert::lower_ending(output) != ".png")
    usage_fail("--output {}: depths are written as a PNG; give a name that ends with .png", output);
}

void measure_depth(const DepthArguments& arguments) {
  check_picture_size(arguments.size);
  check_png_name(arguments.output);
  convert::refuse_input(arguments.output, {arguments.file, arguments.picture});
  HostModel model(arguments.file, arguments.session);
  model.begin();
  const mote_host_input picture = file_input(arguments.picture);
  nlohmann::json given = {{"output", arguments.output}};
  if (!arguments.size.empty()) given["size"] = arguments.size;
  const std::string options = given.dump();
  const InterruptGuard guard;
  HostCalls calls;
  nlohmann::json found =
      calls.take(mote_host_depth(model.get(), &picture, options.c_str(), calls.get())).json();
  if (arguments.json) {
    found["picture"] = arguments.picture;
    found["output"] = arguments.output;
    return print_json(found);
  }
  print("{}: {} x {} pixels, from {:.4g} to {:.4g}\n", one_line(arguments.output),
        found.at("width").get<uint32_t>(), found.at("height").get<uint32_t>(), found.at("least").get<float>(),
        found.at("most").get<float>());
}

}  // namespace

void add_depth(CommandLine& line) {
  auto [command, arguments] = model_command(
      line, "depth", "Write how far away the pixels of a picture are, as a PNG of grey", measure_depth);
  command.option("PICTURE", &arguments.picture, "A picture (PNG, JPEG, WebP, GIF, BMP, TIFF, PNM)")
      .type("")
      .required();
  command.option("-o,--output", &arguments.output, "The .png to write, replaced if it exists")
      .type("OUT")
      .required();
  add_picture_size(command, arguments.size);
  command.flag("--json", &arguments.json, "Print an object");
  add_session_flags(command, arguments.session);
}

}  // namespace mote::cli
