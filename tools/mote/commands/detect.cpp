// SPDX-License-Identifier: Apache-2.0
//
// mote detect: what is in a picture, and where.
#include <array>

#include "host/base/output_file.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/drawn_boxes.h"
#include "tools/mote/host_model.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/pages/html_page.h"
#include "tools/mote/picture_flags.h"
#include "tools/mote/signals.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct DetectArguments {
  std::string file, output, size;
  std::vector<std::string> pictures;
  float threshold = 0.5f;  // the original's
  bool json = false;
  SessionFlags session;
};

std::vector<DrawnBox> boxes_of(const nlohmann::json& found) {
  std::vector<DrawnBox> boxes;
  for (const nlohmann::json& one : found) {
    const auto sides = one.at("box").get<std::array<float, 4>>();
    boxes.push_back({one.at("label").get<std::string>(), one.at("probability").get<float>(), sides[0],
                     sides[1], sides[2], sides[3]});
  }
  return boxes;
}

void show_boxes(const std::string& path, const std::vector<DrawnBox>& boxes) {
  for (const DrawnBox& box : boxes)
    print("{} {:.4f}, from {:.1f}, {:.1f} to {:.1f}, {:.1f}: {}\n", one_line(box.label), box.probability,
          box.left, box.top, box.right, box.bottom, one_line(path));
  if (boxes.empty()) note("nothing likely enough is in {}", one_line(path));
}

void detect(const DetectArguments& arguments) {
  check_picture_size(arguments.size);
  if (!arguments.output.empty() && arguments.pictures.size() != 1)
    usage_fail("--output draws one picture; {} are given", arguments.pictures.size());
  if (!arguments.output.empty())
    convert::refuse_input(arguments.output, {arguments.file, arguments.pictures[0]});
  if (!arguments.output.empty() && browser_type(convert::MappedFile(arguments.pictures[0]).bytes()).empty())
    convert::fail(
        "{}: browsers do not show such a picture; `ffmpeg -i FILE out.png` makes a PNG of it, over which "
        "boxes are drawn",
        arguments.pictures[0]);
  HostModel model(arguments.file, arguments.session);
  model.begin();
  nlohmann::json given = {{"threshold", arguments.threshold}};
  if (!arguments.size.empty()) given["size"] = arguments.size;
  const std::string options = given.dump();
  for (const std::string& path : arguments.pictures) {
    const mote_host_input picture = file_input(path);
    const InterruptGuard guard;
    HostCalls calls;
    nlohmann::json found =
        calls.take(mote_host_detect(model.get(), &picture, 1, options.c_str(), calls.get())).json().at(0);
    const std::vector<DrawnBox> boxes = boxes_of(found.at("boxes"));
    if (!arguments.output.empty())
      write_markup(arguments.output,
                   boxes_svg(convert::MappedFile(path).bytes(), found.at("width").get<uint32_t>(),
                             found.at("height").get<uint32_t>(), boxes));
    if (!arguments.json) {
      show_boxes(path, boxes);
      continue;
    }
    found["picture"] = path;
    print_json(found);
  }
}

}  // namespace

void add_detect(CommandLine& line) {
  auto [command, arguments] =
      model_command(line, "detect", "Find things in pictures: their labels and boxes", detect);
  command.option("PICTURE", &arguments.pictures, "Pictures (PNG, JPEG, WebP, GIF, BMP, TIFF, PNM)")
      .type("")
      .required();
  command.option("--threshold", &arguments.threshold, "Show what is likelier than this (default: 0.5)")
      .type("P")
      .range(0.0f, 1.0f);
  command
      .option("-o,--output", &arguments.output,
              "Draw the boxes over the picture: an SVG, replaced if it exists")
      .type("OUT");
  add_picture_size(command, arguments.size);
  command.flag("--json", &arguments.json, "Print an object a line");
  add_session_flags(command, arguments.session);
}

}  // namespace mote::cli
