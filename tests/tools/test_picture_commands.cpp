// SPDX-License-Identifier: Apache-2.0
//
// Pictures on the command line: convert, classify and embed.
#include <array>
#include <cmath>
#include <regex>

#include "converter/readers/safetensors.h"
#include "tests/support/unity_style.h"
#include "tests/tools/command.h"

using namespace mote::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

json steps() {
  return {{"image_processor_type", "ViTImageProcessor"},
          {"do_resize", true},
          {"size", {{"height", 24}, {"width", 24}}},
          {"resample", 2},
          {"do_rescale", true},
          {"rescale_factor", 1.0 / 255},
          {"do_normalize", true},
          {"image_mean", {0.5, 0.5, 0.5}},
          {"image_std", {0.5, 0.5, 0.5}}};
}

/// As YOLOS's published models have them.
json yolos_steps(int shortest, int longest) {
  return {{"feature_extractor_type", "YolosFeatureExtractor"},
          {"format", "coco_detection"},
          {"do_normalize", true},
          {"do_resize", true},
          {"image_mean", {0.485, 0.456, 0.406}},
          {"image_std", {0.229, 0.224, 0.225}},
          {"max_size", longest},
          {"size", shortest}};
}

/// Converts a golden model with such a preprocessor_config.json beside it.
Outcome convert(const std::string& name, const json& preprocessor, const std::string& options,
                std::string* path) {
  const fs::path folder = scratch() / ("picture_" + name);
  fs::remove_all(folder);
  fs::copy(golden(name), folder, fs::copy_options::recursive);
  write_text(folder / "preprocessor_config.json", preprocessor.dump());
  *path = (folder / "out.mote").string();
  return run("convert " + folder.string() + " -o " + *path + " --type f32 " + options);
}

std::string picture(const std::string& name) {
  return std::string(MOTE_SOURCE_DIR) + "/tests/pictures/files/" + name;
}

}  // namespace

TEST("a classifier of pictures labels files, as the steps beside its weights prepare them") {
  std::string model;
  assert_works(convert("vit_classifier", steps(), "", &model));
  const std::string command = "classify " + model + " --json --image " + picture("grid.png");
  const Outcome outcome = run(command);
  if (contains(outcome.err, "this build reads no pictures")) return;  // as configured
  const json labels = assert_json(outcome).at("labels");
  TEST_ASSERT_EQUAL_UINT64(5, labels.size());
  double sum = 0;
  for (const json& label : labels) sum += label.at("probability").get<double>();
  TEST_ASSERT_TRUE(std::fabs(sum - 1) < 1e-5);
  CHECK(assert_json(run("classify " + model + " --json --image " + picture("palette.png"))).at("labels") !=
        labels);
  CHECK(
      assert_json(run("classify " + model + " --json --image " + picture("turned.jpg"))).contains("labels"));
  assert_fails(run("classify " + model + " --image " + model), 1, "no picture of a kind that mote reads");
}

TEST("a picture has the same labels in every format that loses nothing") {
  std::string model;
  assert_works(convert("vit_classifier", steps(), "", &model));
  const std::string folder = std::string(MOTE_SOURCE_DIR) + "/tests/written/picture_formats/";
  const auto labels_of = [&](const std::string& name) {
    return assert_json(run("classify " + model + " --json --image " + folder + name)).at("labels");
  };
  if (contains(run("classify " + model + " --image " + folder + "lossless.webp").err, "this build reads no"))
    return;
  const json labels = labels_of("p6.ppm");
  for (const char* name : {"rgb.bmp", "lossless.webp", "plain.tif"}) {
    CAPTURE(name);
    CHECK(labels_of(name) == labels);
  }
  CHECK(labels_of("global.gif") != labels);
}

TEST(
    "a file of any size labels a picture at the size that is asked for, and one of one size refuses others") {
  std::string model, fixed;
  assert_works(convert("vit_classifier", steps(), "--any-picture-size 60x48", &model));
  const std::string command =
      "classify " + model + " --json --image " + picture("grid.png");  // 61 x 47 pixels
  const Outcome outcome = run(command);
  if (contains(outcome.err, "this build reads no pictures")) return;
  const auto labels_of = [&](const std::string& size) {
    return assert_json(run(command + " --size " + size)).at("labels");
  };
  const json own = assert_json(outcome).at("labels");
  CHECK(labels_of("24x24") == own);
  CHECK(labels_of("60x48") != own);
  CHECK(labels_of("own") == labels_of("60x48"));
  CHECK(labels_of("longest=60") == labels_of("60x48"));
  CHECK(labels_of("shortest=24") == labels_of("30x24"));
  assert_fails(
      run(command + " --size 66x48"), 1,
      "size 66x48: a picture of 66 x 48 pixels; sides are multiples of 6, and there are at most 81 rows");
  assert_fails(run(command + " --size 25x24"), 1, "size 25x24: ");
  for (const char* wrong :
       {"big", "24", "24x", "0x24", "longest=", "shortest=0", "24x24x24", "999996x6", "65537x6"}) {
    CAPTURE(wrong);
    assert_fails(run(command + " --size " + wrong), 2,
                 "give WIDTHxHEIGHT, longest=N, shortest=N or own, of 1 to 65536 pixels");
  }
  assert_works(convert("vit_classifier", steps(), "", &fixed));
  assert_fails(
      run("classify " + fixed + " --size 24x24 --image " + picture("grid.png")), 1,
      "takes pictures of 24 x 24 pixels alone; mote convert --any-picture-size makes a file for any");
  assert_fails(convert("beit_classifier", steps(), "--any-picture-size 48x48", &model), 1, "not supported");
  assert_fails(convert("vit_classifier", steps(), "--any-picture-size 48", &model), 2, "WIDTHxHEIGHT");
  assert_fails(run("classify " + converted("bert_classifier", "f32") + " --text a --size own"), 2,
               "not pictures");
}

TEST("depth is a PNG of the picture's size, or a message says which size the file is for") {
  std::string model;
  json dpt = steps();
  dpt["image_processor_type"] = "DPTImageProcessor";
  dpt["keep_aspect_ratio"] = true;
  dpt["ensure_multiple_of"] = 6;
  dpt["resample"] = 3;
  assert_works(convert("depth_anything", dpt, "", &model));
  const fs::path out = scratch() / "depth.png";
  fs::remove(out);
  const Outcome outcome = run("depth " + model + " -o " + out.string() + " " + picture("grid.png"));
  if (contains(outcome.err, "this build reads no pictures")) return;
  assert_fails(outcome, 1, "becomes 30 x 24, but the model takes 24 x 24");
  TEST_ASSERT_TRUE(!fs::exists(out));
  assert_works(convert("depth_anything", dpt, "--picture-size 30x24", &model));
  const json depth =
      assert_json(run("depth " + model + " -o " + out.string() + " --json " + picture("grid.png")));
  TEST_ASSERT_EQUAL_INT(61, depth.at("width"));
  TEST_ASSERT_EQUAL_INT(47, depth.at("height"));
  TEST_ASSERT_TRUE(depth.at("most").get<double>() >= depth.at("least").get<double>());
  const std::string header = read_text(out).substr(0, 26);
  TEST_ASSERT_TRUE(header.substr(12, 14) == std::string("IHDR\0\0\0\x3d\0\0\0\x2f\x10\0", 14));
  assert_fails(run("classify " + model + " --image " + picture("grid.png")), 1, "mote depth");
  assert_fails(convert("depth_anything", dpt, "--picture-size 31x24", &model), 1, "31 x 24");
  assert_fails(convert("depth_anything", dpt, "--picture-size 30", &model), 2, "WIDTHxHEIGHT");
  assert_fails(convert("vit_classifier", steps(), "--picture-size 30x24", &model), 1, "keep their ratio");
}

TEST("a file of any size measures the depth at the size that the picture chooses, or that is asked for") {
  json dpt = steps();
  dpt["image_processor_type"] = "DPTImageProcessor";
  dpt["keep_aspect_ratio"] = true;
  dpt["ensure_multiple_of"] = 6;
  dpt["resample"] = 3;
  std::string model, fixed;
  assert_works(convert("depth_anything", dpt, "--any-picture-size 36x36", &model));
  const fs::path out = scratch() / "depth.png";
  const auto depth_of = [&](const std::string& file, const std::string& size) {
    const json depth =
        assert_json(run("depth " + file + size + " -o " + out.string() + " --json " + picture("grid.png")));
    return std::pair(depth.at("least").get<double>(), depth.at("most").get<double>());
  };
  const auto near = [](const std::pair<double, double>& a, const std::pair<double, double>& b) {
    return std::fabs(a.first - b.first) < 1e-4 && std::fabs(a.second - b.second) < 1e-4;
  };
  const Outcome outcome = run("depth " + model + " -o " + out.string() + " " + picture("grid.png"));
  if (contains(outcome.err, "this build reads no pictures")) return;
  const auto own = depth_of(model, "");
  CHECK(near(depth_of(model, " --size 30x24"), own));
  CHECK(!near(depth_of(model, " --size 36x36"), own));
  assert_fails(run("depth " + model + " --size own -o " + out.string() + " " + picture("grid.png")), 1,
               "becomes 60 x 48, of 81 rows; this model takes at most 37");
  for (const char* other : {"depth.jpg", "depth", "-"})
    assert_fails(run("depth " + model + " -o " + other + " " + picture("grid.png")), 2, "ends with .png");
  assert_fails(run("depth " + model + " --size big -o " + out.string() + " " + picture("grid.png")), 2,
               "give WIDTHxHEIGHT");
  assert_works(convert("depth_anything", dpt, "--picture-size 30x24", &fixed));
  CHECK(near(depth_of(fixed, ""), own));
  assert_fails(run("depth " + fixed + " --size 30x24 -o " + out.string() + " " + picture("grid.png")), 1,
               "takes pictures of 30 x 24 pixels alone");
}

TEST("a file of any size finds boxes at the size that the picture chooses, or that is asked for") {
  std::string model, fixed;
  assert_works(convert("yolos", yolos_steps(48, 100), "--any-picture-size 54x54", &model));
  const auto boxes_of = [&](const std::string& file, const std::string& size) {
    const json found =
        assert_json(run("detect " + file + size + " --threshold 0 --json " + picture("grid.png")));
    std::vector<double> numbers;
    for (const json& box : found.at("boxes")) {
      numbers.push_back(box.at("probability").get<double>());
      for (const json& side : box.at("box")) numbers.push_back(side.get<double>());
    }
    return numbers;
  };
  const Outcome outcome = run("detect " + model + " " + picture("grid.png"));
  if (contains(outcome.err, "this build reads no pictures")) return;
  const std::vector<double> own = boxes_of(model, "");  // of 48 x 48
  CHECK(boxes_of(model, " --size 48x48") == own);
  CHECK(boxes_of(model, " --size 60x48").at(0) != own.at(0));
  assert_fails(run("detect " + model + " --size 66x48 " + picture("grid.png")), 1,
               "there are at most 87 rows");
  assert_works(convert("yolos", yolos_steps(48, 100), "--picture-size 48x48", &fixed));
  const std::vector<double> expected = boxes_of(fixed, "");
  TEST_ASSERT_EQUAL_UINT64(expected.size(), own.size());
  for (size_t i = 0; i < own.size(); ++i) TEST_ASSERT_FLOAT_WITHIN(1e-3, expected[i], own[i]);
  assert_works(convert("yolos", yolos_steps(12, 100), "--any-picture-size 54x54", &model));
  assert_fails(run("detect " + model + " " + picture("grid.png")), 1,
               "becomes 0 x 0; this model takes sides of at least 6");
  // Sides that the processor rounds to 16 are no multiples of this model's patches of 6.
  assert_works(convert("yolos", yolos_steps(32, 100), "--any-picture-size 54x54", &model));
  assert_fails(run("detect " + model + " " + picture("grid.png")), 1, "multiples of 6");
}

TEST("a picture has as many patches as SigLIP 2's processor gives it, unless a size is asked for") {
  json naflex = steps();
  naflex["image_processor_type"] = "Siglip2ImageProcessor";
  naflex["patch_size"] = 6;
  naflex["max_num_patches"] = 20;
  naflex.erase("size");
  std::string model;
  assert_works(convert("siglip2", naflex, "--tower vision", &model));
  const auto vector_of = [&](const std::string& size) {
    return assert_json(run("embed " + model + size + " --image " + picture("grid.png"))).at("embedding");
  };
  const Outcome outcome = run("embed " + model + " --image " + picture("grid.png"));
  if (contains(outcome.err, "this build reads no pictures")) return;
  const json own = vector_of("");  // 61 x 47 pixels become 30 x 24
  CHECK(vector_of(" --size 30x24") == own);
  CHECK(vector_of(" --size 24x24") != own);
  naflex["patch_size"] = 16;
  assert_fails(convert("siglip2", naflex, "--tower vision", &model), 1, "patch_size is 16, the model's is 6");
  naflex["patch_size"] = 6;
  naflex["max_num_patches"] = 0;
  assert_fails(convert("siglip2", naflex, "--tower vision", &model), 1, "max_num_patches is 0");
}

TEST("a model of pictures asks for pictures, one of texts refuses them") {
  std::string model;
  assert_works(convert("vit_classifier", steps(), "", &model));
  assert_fails(run("classify " + model + " --text hello"), 2, "--image");
  assert_fails(run("embed " + model + " --image " + picture("grid.png")), 1, "no vectors");
}

TEST("of a model of pictures and texts a tower is chosen, and its vectors have length 1") {
  std::string model;
  json clip = steps();
  clip["image_processor_type"] = "CLIPImageProcessor";
  clip["size"] = 24;
  clip["crop_size"] = 24;
  clip["do_center_crop"] = true;
  assert_fails(convert("clip", clip, "", &model), 1, "--tower");
  assert_works(convert("clip", clip, "--tower vision", &model));
  const Outcome outcome = run("embed " + model + " --image " + picture("grid.png"));
  if (contains(outcome.err, "this build reads no pictures")) return;
  const json vector = assert_json(outcome).at("embedding");
  double sum = 0;
  for (const json& number : vector) sum += std::pow(number.get<double>(), 2);
  TEST_ASSERT_TRUE(std::fabs(sum - 1) < 1e-5);
}

TEST("steps that give other pixels than the original's are refused at conversion by their key") {
  std::string model;
  json other = steps();
  other["crop_pct"] = 0.9;
  assert_fails(convert("vit_classifier", other, "", &model), 1, "crop_pct");
  other = steps();
  other["resample"] = 0;
  assert_fails(convert("vit_classifier", other, "", &model), 1, "resample");
  other = steps();
  other["size"] = {{"height", 30}, {"width", 24}};
  assert_fails(convert("vit_classifier", other, "", &model), 1, "30");
}

TEST("DINOv2's positions are those of the size that its pictures have") {
  std::string model;
  json bit = steps();
  bit["image_processor_type"] = "BitImageProcessor";
  bit["size"] = {{"shortest_edge", 40}};
  bit["do_center_crop"] = true;
  bit["crop_size"] = {{"height", 36}, {"width", 36}};
  bit["resample"] = 3;
  assert_works(convert("dinov2", bit, "", &model));
  const Outcome outcome = run("embed " + model + " --image " + picture("grid.png"));
  if (!contains(outcome.err, "this build reads no pictures")) assert_works(outcome);
  json odd = bit;
  odd["crop_size"] = {{"height", 37}, {"width", 36}};
  assert_fails(convert("dinov2", odd, "", &model), 1, "37");
}

TEST("a detector's positions of another size give the original's labels and boxes") {
  std::string model;
  assert_works(convert("yolos", yolos_steps(48, 100), "--picture-size 30x48", &model));
  const std::string folder = std::string(MOTE_SOURCE_DIR) + "/tests/golden/sizes/",
                    out = (scratch() / "yolos.safetensors").string();
  assert_works(run("forward " + model + " --input " + folder + "yolos_30x48.safetensors --output " + out));
  const mote::convert::SafetensorsFile expected(folder + "yolos_30x48.safetensors"), given(out);
  for (const char* name : {"logits", "pred_boxes"}) {
    const std::vector<float> values = given.f32(name), original = expected.f32(name);
    TEST_ASSERT_EQUAL_UINT64(original.size(), values.size());
    TEST_ASSERT_FLOAT_ARRAY_WITHIN(2e-5, original.data(), values.data(), values.size());
  }
}

/// Each label of a drawing lies in the picture, of 61 by 47 pixels, and covers no other; returns how many
/// there are.
static size_t assert_labels_apart(const std::string& drawing) {
  static const std::regex kLabel(
      "class=\"label\" x=\"([^\"]*)\" y=\"([^\"]*)\" width=\"([^\"]*)\" height=\"([^\"]*)\"");
  std::vector<std::array<double, 4>> areas;  // left, top, right, bottom
  for (auto at = std::sregex_iterator(drawing.begin(), drawing.end(), kLabel); at != std::sregex_iterator();
       ++at) {
    const double left = std::stod((*at)[1]), top = std::stod((*at)[2]);
    const std::array<double, 4> area = {left, top, left + std::stod((*at)[3]), top + std::stod((*at)[4])};
    TEST_ASSERT_TRUE(area[0] >= 0 && area[1] >= 0 && area[2] <= 61.01 && area[3] <= 47.01);
    for (const auto& other : areas) {
      const double room = 0.02;  // of digits that are printed
      TEST_ASSERT_TRUE(area[0] >= other[2] - room || other[0] >= area[2] - room ||
                       area[1] >= other[3] - room || other[1] >= area[3] - room);
    }
    areas.push_back(area);
  }
  return areas.size();
}

TEST("a detector names what is in a picture and where, and draws it over the picture") {
  std::string model;
  assert_works(convert("yolos", yolos_steps(48, 100), "--picture-size 48x48", &model));
  const std::string command = "detect " + model + " " + picture("grid.png");  // 61 x 47 pixels
  const fs::path svg = scratch() / "boxes.svg";
  const Outcome outcome = run(command + " --json --threshold 0 -o " + svg.string());
  if (contains(outcome.err, "this build reads no pictures")) return;
  const json found = assert_json(outcome);
  TEST_ASSERT_EQUAL_INT(61, found.at("width"));
  TEST_ASSERT_EQUAL_INT(47, found.at("height"));
  const json& boxes = found.at("boxes");
  TEST_ASSERT_EQUAL_UINT64(5, boxes.size());
  double last = 1;
  for (const json& box : boxes) {
    TEST_ASSERT_TRUE(box.at("label").get<std::string>().starts_with("LABEL_"));
    const double probability = box.at("probability");
    TEST_ASSERT_TRUE(probability <= last);
    last = probability;
    TEST_ASSERT_TRUE(box.at("box").at(0) <= box.at("box").at(2) &&
                     box.at("box").at(1) <= box.at("box").at(3));
  }
  const std::string drawing = read_text(svg);
  TEST_ASSERT_TRUE(contains(drawing, "data:image/png;base64,iVBORw0KGgo"));
  TEST_ASSERT_TRUE(contains(drawing, "viewBox=\"0 0 61 47\""));
  TEST_ASSERT_TRUE(contains(drawing, boxes.at(0).at("label").get<std::string>()));
  TEST_ASSERT_TRUE(assert_labels_apart(drawing) > 1);
  TEST_ASSERT_EQUAL_UINT64(0, assert_json(run(command + " --json --threshold 1")).at("boxes").size());
  TEST_ASSERT_TRUE(contains(run(command + " --threshold 1").err, "nothing likely enough"));
  assert_fails(run(command + " -o " + picture("grid.png")), 1, "grid.png");
  const std::string page = scratch() / "page.tif";
  write_text(page, read_text(std::string(MOTE_SOURCE_DIR) + "/tests/written/picture_formats/plain.tif"));
  assert_fails(run("detect " + model + " " + page + " -o " + svg.string()), 1,
               "browsers do not show such a picture");
  assert_fails(run(command + " " + picture("palette.png") + " -o " + svg.string()), 2, "one picture");
  assert_fails(run("classify " + model + " --image " + picture("grid.png")), 1, "mote detect");
}

TEST("a detector's pictures of other ratios are refused with the size that takes them") {
  std::string model;
  assert_works(convert("yolos", yolos_steps(96, 200), "", &model));  // 36 x 24, the model's own
  const Outcome outcome = run("detect " + model + " " + picture("grid.png"));
  if (contains(outcome.err, "this build reads no pictures")) return;
  assert_fails(outcome, 1,
               "becomes 112 x 96, but the model takes 36 x 24; convert it with --picture-size 112x96");
  assert_fails(convert("yolos", yolos_steps(96, 200), "--picture-size 112x96", &model), 1, "112 x 96");
  json filled = yolos_steps(48, 100);
  filled["pad_size"] = {{"height", 96}, {"width", 96}};
  assert_fails(convert("yolos", filled, "", &model), 1, "pad_size");
  json alone = yolos_steps(48, 100);
  alone["size"] = {{"shortest_edge", 48}};
  assert_fails(convert("yolos", alone, "", &model), 1, "longest_edge");
  assert_fails(run("convert " + golden("yolos") + " -o " + model + " --picture-size 48x48"), 1,
               "no preprocessor_config.json");
  assert_fails(run("convert " + golden("gpt2") + " -o " + model + " --picture-size 48x48"), 1,
               "models of pictures");
}
