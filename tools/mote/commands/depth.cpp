// SPDX-License-Identifier: Apache-2.0
//
// mote depth: how far away each pixel of a picture is, as a picture of grey.
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "host/base/error.h"
#include "host/base/output_file.h"
#include "host/media/png_writer.h"
#include "host/media/stretch.h"
#include "tools/mote/commands/commands.h"
#include "tools/mote/model_command.h"
#include "tools/mote/output.h"
#include "tools/mote/picture_encoder.h"

namespace mote::cli {
namespace {

struct DepthArguments {
  std::string file, picture, output;
  bool json = false;
  SessionFlags session;
};

struct Extremes {
  float least = std::numeric_limits<float>::infinity(), most = -least;
};

Extremes extremes_of(pictures::Stretch& stretch, pictures::Sides sides) {
  Extremes found;
  std::vector<float> row(sides.width);
  for (uint32_t y = 0; y < sides.height; ++y) {
    stretch.row(y, row.data());
    const auto [least, most] = std::minmax_element(row.begin(), row.end());
    found.least = std::min(found.least, *least);
    found.most = std::max(found.most, *most);
  }
  return found;
}

void measure_depth(const DepthArguments& arguments) {
  convert::refuse_input(arguments.output, {arguments.file, arguments.picture});
  const ModelFile file(arguments.file, arguments.session);
  const ThreadPool pool(file, arguments.session);
  PictureEncoder encoder(file, arguments.session, pool);
  if (encoder.output().kind != MOTE_OUTPUT_DEPTH) convert::fail("{} measures no depth", file.path());
  encoder.encode(arguments.picture);
  const std::vector<float> depths = encoder.depths();
  const mote_picture_info& picture = encoder.picture();
  const pictures::Sides sides = encoder.sides();
  pictures::Stretch stretch(depths, {picture.height, picture.width}, sides);
  const Extremes extremes = extremes_of(stretch, sides);
  constexpr float kWhite = 65535;
  const float scale = extremes.most > 0 ? kWhite / extremes.most : 0.0f;
  std::vector<float> values(sides.width);
  pictures::write_grey_png(arguments.output, sides, [&](uint32_t y, uint16_t* row) {
    stretch.row(y, values.data());
    for (size_t x = 0; x < values.size(); ++x)
      row[x] = static_cast<uint16_t>(std::lround(std::clamp(values[x] * scale, 0.0f, kWhite)));
  });
  if (arguments.json) {
    const nlohmann::json summary = {{"picture", arguments.picture}, {"output", arguments.output},
                                    {"width", sides.width},         {"height", sides.height},
                                    {"least", extremes.least},      {"most", extremes.most}};
    return print_json(summary);
  }
  print("{}: {} x {} pixels, from {:.4g} to {:.4g}\n", one_line(arguments.output), sides.width, sides.height,
        extremes.least, extremes.most);
}

}  // namespace

void add_depth(CommandLine& line) {
  auto [command, arguments] = model_command(
      line, "depth", "Write how far away the pixels of a picture are, as a PNG of grey", measure_depth);
  command.option("PICTURE", &arguments.picture, "A PNG or JPEG").type("").required();
  command.option("-o,--output", &arguments.output, "The PNG to write, replaced if it exists")
      .type("OUT")
      .required();
  command.flag("--json", &arguments.json, "Print an object");
  add_session_flags(command, arguments.session);
}

}  // namespace mote::cli
