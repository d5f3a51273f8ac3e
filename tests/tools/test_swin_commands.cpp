// SPDX-License-Identifier: Apache-2.0
//
// Swin as the command runs it: pictures of any size.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/unity_style.h"
#include "tests/tools/command.h"

using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string kSwinPicture =
    std::string(MOTE_SOURCE_DIR) + "/tests/pictures/files/grid.png";  // 61 x 47 pixels

/// Converts the golden model with a processor of squares of 32 pixels.
Outcome convert_swin(const std::string& options, std::string* path) {
  const fs::path folder = scratch() / "swin_of_any_size";
  fs::remove_all(folder);
  fs::copy(golden("swin_classifier"), folder, fs::copy_options::recursive);
  const json steps = {{"image_processor_type", "ViTImageProcessor"},
                      {"do_resize", true},
                      {"size", {{"height", 32}, {"width", 32}}},
                      {"resample", 3},
                      {"do_rescale", true},
                      {"rescale_factor", 1.0 / 255},
                      {"do_normalize", true},
                      {"image_mean", {0.5, 0.5, 0.5}},
                      {"image_std", {0.5, 0.5, 0.5}}};
  write_text(folder / "preprocessor_config.json", steps.dump());
  *path = (folder / "out.mote").string();
  return run("convert " + folder.string() + " -o " + *path + " --type f32 " + options);
}

}  // namespace

TEST("a Swin of any size labels wide and tall pictures, and refuses those that are smaller than a window") {
  std::string model;
  assert_works(convert_swin("--any-picture-size 60x48", &model));
  const std::string command = "classify " + model + " --json --image " + kSwinPicture;
  const Outcome outcome = run(command + " --size own");
  if (contains(outcome.err, "this build reads no pictures")) return;
  CHECK(assert_json(outcome).at("labels").size() == 5);
  CHECK(assert_json(run(command + " --size 60x32")).at("labels") !=
        assert_json(run(command + " --size 32x60")).at("labels"));
  assert_fails(run(command + " --size 24x60"), 1, "this model takes at least 28 x 28");
  const Outcome converted = convert_swin("--any-picture-size 512x512", &model);
  assert_works(converted);
  CHECK(contains(converted.out, "16384 "));  // patches, behind which the table of RAM once stopped
}
