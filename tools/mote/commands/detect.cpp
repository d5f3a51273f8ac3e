// SPDX-License-Identifier: Apache-2.0
//
// mote detect: what is in a picture, and where.
#include <nlohmann/json.hpp>

#include "converter/source.h"
#include "host/base/error.h"
#include "host/base/output_file.h"
#include "tools/mote/boxes.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/pages/html_page.h"
#include "tools/mote/picture_encoder.h"
#include "tools/mote/usage.h"

namespace mote::cli {
namespace {

struct DetectArguments {
  std::string file, output;
  std::vector<std::string> pictures;
  float threshold = 0.5f;  // the original's
  bool json = false;
  SessionFlags session;
};

void show_boxes(const std::string& path, pictures::Sides sides, const std::vector<host::Box>& boxes,
                bool json) {
  nlohmann::json found = nlohmann::json::array();
  for (const host::Box& box : boxes) {
    found.push_back({{"label", box.label},
                     {"probability", box.probability},
                     {"box", {box.left, box.top, box.right, box.bottom}}});
    if (!json)
      print("{} {:.4f}, from {:.1f}, {:.1f} to {:.1f}, {:.1f}: {}\n", one_line(box.label), box.probability,
            box.left, box.top, box.right, box.bottom, one_line(path));
  }
  if (json)
    return print_json(
        {{"picture", path}, {"width", sides.width}, {"height", sides.height}, {"boxes", std::move(found)}});
  if (boxes.empty()) note("nothing likely enough is in {}", one_line(path));
}

void detect(const DetectArguments& arguments) {
  if (!arguments.output.empty() && arguments.pictures.size() != 1)
    usage_fail("--output draws one picture; {} are given", arguments.pictures.size());
  if (!arguments.output.empty())
    convert::refuse_input(arguments.output, {arguments.file, arguments.pictures[0]});
  const ModelFile file(arguments.file, arguments.session);
  const ThreadPool pool(file, arguments.session);
  PictureEncoder encoder(file, arguments.session, pool);
  if (encoder.output().kind != MOTE_OUTPUT_BOXES) convert::fail("{} finds no boxes", file.path());
  for (const std::string& path : arguments.pictures) {
    encoder.encode(path);
    const std::vector<host::Box> boxes = encoder.boxes(arguments.threshold);
    if (!arguments.output.empty())
      write_markup(arguments.output, boxes_svg(convert::MappedFile(path).bytes(), encoder.sides(), boxes));
    show_boxes(path, encoder.sides(), boxes, arguments.json);
  }
}

}  // namespace

void add_detect(CommandLine& line) {
  auto [command, arguments] =
      model_command(line, "detect", "Find things in pictures: their labels and boxes", detect);
  command.option("PICTURE", &arguments.pictures, "PNG or JPEG files").type("").required();
  command.option("--threshold", &arguments.threshold, "Show what is likelier than this (default: 0.5)")
      .type("P")
      .range(0.0f, 1.0f);
  command
      .option("-o,--output", &arguments.output,
              "Draw the boxes over the picture: an SVG, replaced if it exists")
      .type("OUT");
  command.flag("--json", &arguments.json, "Print an object a line");
  add_session_flags(command, arguments.session);
}

}  // namespace mote::cli
