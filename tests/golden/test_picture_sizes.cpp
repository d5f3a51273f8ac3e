// SPDX-License-Identifier: Apache-2.0
//
// Files of any size (--any-picture-size) against the originals with resized positions, tests/golden/sizes
// (make_sizes.py), and against files of one size.
#include <cstdio>

#include "mote/pictures.h"
#include "tests/golden/golden_runs.h"
#include "tests/support/golden.h"

namespace {

using mote::convert::SafetensorsFile;

struct SizedModel {
  const char* name;
  const char* tower;
  const char* native;  // the output of its golden file
};

constexpr SizedModel kSizedModels[] = {
    {"vit_classifier", "", "logits"},   {"deit_distilled", "", "logits"},
    {"dinov2", "", "pooler_output"},    {"dinov3_vit", "", "pooler_output"},
    {"clip", "vision", "image_embeds"}, {"siglip", "vision", "image_embeds"}};

test::AlignedBytes file_of_any_size(const SizedModel& model, const std::string& type = "f32") {
  mote::convert::ConvertOptions options;
  options.type = type;
  options.tower = model.tower;
  options.any_picture_size = {54, 54};
  return test::kept_conversion(std::string(model.name) + ".any_size_" + type,
                               test::golden_folder() / model.name, options);
}

/// Returns the output of pixel values [1, 3, height, width], or of several.
std::vector<float> output_of(const test::OpenModel& model, mote_isa isa, const std::vector<uint64_t>& shape,
                             const std::vector<float>& pixels, uint32_t chunk) {
  mote_picture_info picture;
  REQUIRE(mote_picture_of_size(model.get(), static_cast<uint32_t>(shape.at(2)),
                               static_cast<uint32_t>(shape.at(3)), &picture, nullptr) == MOTE_OK);
  mote_session_options options = mote_session_options_default(model.get());
  options.isa = isa;
  options.chunk = chunk;
  options.logit_rows = 1;
  const test::OpenSession session(model, options);
  mote_output_info output;
  mote_model_get_output(model.get(), &output);
  std::vector<float> all;
  const size_t size = size_t{picture.channels} * picture.height * picture.width;
  for (size_t i = 0; i < shape[0]; ++i) {
    std::vector<float> rows(size_t{picture.rows} * picture.row_width);
    mote_picture_rows(&picture, pixels.data() + i * size, rows.data());
    mote_batch batch{};
    batch.values = rows.data();
    batch.lengths = &picture.rows;
    batch.count = 1;
    REQUIRE(mote_encode(session.get(), &batch, nullptr) == MOTE_OK);
    const float* values = mote_session_output(session.get(), 0);
    all.insert(all.end(), values, values + output.width);
  }
  return all;
}

}  // namespace

TEST("a file of any size gives the original's outputs for square, wide and tall pictures") {
  for (const SizedModel& one : kSizedModels) {
    const test::AlignedBytes file = file_of_any_size(one);
    const test::OpenModel model(file);
    const SafetensorsFile golden(test::golden_folder() / "../sizes" /
                                 (std::string(one.name) + ".safetensors"));
    for (const char* size : {"36x36", "48x12", "18x54"}) {
      const std::string key = std::string("pixel_values.") + size;
      const std::vector<float> pixels = golden.f32(key), expected = golden.f32(std::string("output.") + size);
      for (const mote_isa isa : test::all_families()) {
        CAPTURE(one.name, size, mote_isa_name(isa));
        const std::vector<float> given = output_of(model, isa, golden.shape(key), pixels, 90);
        TEST_ASSERT_EQUAL_UINT32(expected.size(), given.size());
        TEST_ASSERT_FLOAT_ARRAY_WITHIN(test::golden_tolerance(one.name), expected.data(), given.data(),
                                       given.size());
      }
    }
  }
}

TEST("a file of any size gives the stored outputs for the model's own size") {
  for (const SizedModel& one : kSizedModels) {
    const test::AlignedBytes file = file_of_any_size(one);
    const test::OpenModel model(file);
    const SafetensorsFile golden(test::golden_folder() / one.name / "golden.safetensors");
    const std::vector<float> pixels = golden.f32("pixel_values"), expected = golden.f32(one.native),
                             given =
                                 output_of(model, MOTE_ISA_AUTO, golden.shape("pixel_values"), pixels, 90);
    CAPTURE(one.name);
    TEST_ASSERT_EQUAL_UINT32(expected.size(), given.size());
    TEST_ASSERT_FLOAT_ARRAY_WITHIN(test::golden_tolerance(one.name), expected.data(), given.data(),
                                   given.size());
  }
}

TEST("a picture has the same bits in a session that has room for larger ones") {
  for (const char* type : {"f32", "q8"}) {
    const SizedModel& one = kSizedModels[0];
    const test::AlignedBytes file = file_of_any_size(one, type);
    const test::OpenModel model(file);
    const SafetensorsFile golden(test::golden_folder() / "../sizes" /
                                 (std::string(one.name) + ".safetensors"));
    const std::vector<float> pixels = golden.f32("pixel_values.48x12");
    const auto shape = golden.shape("pixel_values.48x12");
    CHECK(output_of(model, MOTE_ISA_AUTO, shape, pixels, 17) ==
          output_of(model, MOTE_ISA_AUTO, shape, pixels, 82));
  }
}

TEST("pictures of more rows than the file was made for, or of parts of patches, are refused") {
  const test::AlignedBytes file = file_of_any_size(kSizedModels[0]);
  const test::OpenModel model(file);
  mote_picture_info picture;
  mote_error error{};
  CHECK(mote_picture_of_size(model.get(), 54, 54, &picture, &error) == MOTE_OK);
  CHECK(picture.rows == 82);
  CHECK(picture.most_rows == 82);
  CHECK(mote_picture_of_size(model.get(), 6, 486, &picture, &error) == MOTE_OK);
  CHECK(mote_picture_of_size(model.get(), 60, 54, &picture, &error) == MOTE_INVALID_ARGUMENT);
  CHECK(std::string(error.text).find("at most 82 rows") != std::string::npos);
  CHECK(mote_picture_of_size(model.get(), 50, 54, &picture, &error) == MOTE_INVALID_ARGUMENT);
}

TEST("models whose positions cannot be resized are refused for any size") {
  const auto refusal = [](const std::string& name, mote::convert::PictureSides sides) {
    mote::convert::ConvertOptions options;
    options.any_picture_size = sides;
    try {
      test::kept_conversion(name + ".refused", test::golden_folder() / name, options);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const char* name : {"beit_classifier", "swin_classifier", "depth_anything", "yolos"}) {
    CAPTURE(name);
    CHECK(refusal(name, {48, 48}).find("pictures of any size are not supported") != std::string::npos);
  }
  CHECK(refusal("vit_classifier", {50, 48}).find("multiples of 6") != std::string::npos);
  CHECK(refusal("llama", {48, 48}).find("is for models of pictures") != std::string::npos);
}
