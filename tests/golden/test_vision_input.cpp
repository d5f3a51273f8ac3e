// SPDX-License-Identifier: Apache-2.0
//
// Every model of pictures and texts in tests/golden/models: the one that sees gives the stored vectors, the
// one that reads, with these in its prompt, the stored logits and continuation.
#include <algorithm>

#include "mote/pictures.h"
#include "tests/golden/golden_runs.h"
#include "tests/support/golden.h"

namespace {

using mote::convert::SafetensorsFile;

struct Picture {
  uint32_t rows, columns;  // of its vectors
  std::vector<float> features;
};

/// A picture's rows: stored as pixels [3, height, width], or, of any size, as patches in the rows' order.
std::vector<float> rows_of(const mote_picture_info& info, const float* stored) {
  std::vector<float> rows(size_t{info.rows} * info.row_width);
  if (info.any_size == 0) {
    mote_picture_rows(&info, stored, rows.data());
    return rows;
  }
  const std::vector<float> nothing(size_t{info.channels} * info.height * info.width);
  mote_picture_rows(&info, nothing.data(), rows.data());
  const size_t pixels = size_t{info.channels} * info.frames * info.patch * info.patch;
  for (size_t row = 0; row < info.rows; ++row)
    std::copy_n(stored + row * pixels, pixels,
                rows.begin() + static_cast<std::ptrdiff_t>(row * info.row_width));
  return rows;
}

std::vector<Picture> see_all(const test::OpenModel& model, mote_isa isa, const SafetensorsFile& golden) {
  mote_picture_info info;
  REQUIRE(mote_model_get_picture(model.get(), &info, nullptr) == MOTE_OK);
  size_t count = 1;
  if (golden.has("image_grid_thw")) {
    const std::vector<int64_t> grid = golden.i64("image_grid_thw");
    REQUIRE(mote_picture_of_size(model.get(), static_cast<uint32_t>(grid.at(1)) * info.patch,
                                 static_cast<uint32_t>(grid.at(2)) * info.patch, &info, nullptr) == MOTE_OK);
  } else {
    count = golden.shape("pixel_values").at(1);
  }
  mote_session_options options = mote_session_options_default(model.get());
  options.isa = isa;
  options.context = options.chunk = options.logit_rows = info.rows;
  const test::OpenSession session(model, options);
  mote_output_info output;
  mote_model_get_output(model.get(), &output);
  const std::vector<float> pixels = golden.f32("pixel_values");
  std::vector<Picture> pictures;
  for (size_t i = 0; i < count; ++i) {
    const std::vector<float> rows = rows_of(info, pixels.data() + i * (pixels.size() / count));
    mote_batch batch{};
    batch.values = rows.data();
    batch.lengths = &info.rows;
    batch.count = 1;
    mote_error error{};
    const mote_status status = mote_encode(session.get(), &batch, &error);
    INFO(error.text);
    REQUIRE(status == MOTE_OK);
    const uint32_t side = info.patch * info.merge;
    Picture picture{info.height / side, info.width / side, {}};
    for (uint32_t row = 0; const float* values = mote_session_output(session.get(), row); ++row)
      picture.features.insert(picture.features.end(), values, values + output.width);
    pictures.push_back(std::move(picture));
  }
  return pictures;
}

/// The first `width` columns of all vectors.
std::vector<float> first_columns(const std::vector<Picture>& pictures, size_t width) {
  std::vector<float> all;
  for (const Picture& picture : pictures) {
    const size_t rows = size_t{picture.rows} * picture.columns, whole = picture.features.size() / rows;
    for (size_t row = 0; row < rows; ++row) {
      const auto first = picture.features.begin() + static_cast<std::ptrdiff_t>(row * whole);
      all.insert(all.end(), first, first + static_cast<std::ptrdiff_t>(width));
    }
  }
  return all;
}

/// Reads the prompt with the pictures in chunks of `chunk`, then decodes greedily; null `golden` arrays are
/// compared.
void read_prompt(const test::OpenModel& model, mote_isa isa, uint32_t chunk, const SafetensorsFile& golden,
                 const std::vector<Picture>& pictures, double tolerance) {
  std::vector<int32_t> ids;
  for (const int64_t id : golden.i64("input_ids")) ids.push_back(static_cast<int32_t>(id));
  const auto n = static_cast<uint32_t>(ids.size());
  std::vector<mote_picture_vectors> seen;
  for (const Picture& picture : pictures)
    seen.push_back({picture.features.data(), picture.rows, picture.columns});
  mote_program_info program;
  mote_model_get_program(model.get(), 0, &program);
  std::vector<float> values(size_t{n} * program.input_width);
  mote_error error{};
  mote_status status = mote_vision_input_values(model.get(), ids.data(), n, seen.data(),
                                                static_cast<uint32_t>(seen.size()), values.data(), &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  test::TracedRows traced;
  mote_session_options options = mote_session_options_default(model.get());
  options.isa = isa;
  options.chunk = options.logit_rows = chunk;
  traced.trace(options);
  const test::OpenSession session(model, options);
  std::vector<float> logits;
  for (uint32_t done = 0; done < n; done += chunk) {
    std::vector<mote_row> rows;
    for (uint32_t i = done; i < std::min(n, done + chunk); ++i) rows.push_back({0, ids[i], 0, 1});
    mote_rows call{};
    call.rows = rows.data();
    call.count = static_cast<uint32_t>(rows.size());
    call.values = values.data() + size_t{done} * program.input_width;
    status = mote_compute(session.get(), &call, &error);
    REQUIRE(status == MOTE_OK);
    for (uint32_t row = 0; row < call.count; ++row) {
      const float* of_row = mote_session_output(session.get(), row);
      logits.insert(logits.end(), of_row, of_row + program.output_width);
    }
  }
  auto& hidden = traced.values;
  hidden["logits"] = std::move(logits);
  for (const auto& [stored, tensor] : golden.tensors()) {
    if (stored != "logits" && stored.rfind("hidden.", 0) != 0) continue;
    CAPTURE(stored);
    const std::vector<float> expected = golden.f32(stored);
    TEST_ASSERT_EQUAL_UINT32(expected.size(), hidden[stored].size());
    TEST_ASSERT_FLOAT_ARRAY_WITHIN(tolerance, expected.data(), hidden[stored].data(), expected.size());
  }
  // The continuation, which takes no values, as if it were text alone.
  const std::vector<int64_t> expected = golden.i64("greedy_ids");
  uint32_t row = (n - 1) % chunk;
  for (const int64_t id : expected) {
    int32_t given = -1;
    REQUIRE(mote_sample(session.get(), row, &given, &error) == MOTE_OK);
    TEST_ASSERT_EQUAL_INT32(static_cast<int32_t>(id), given);
    REQUIRE(mote_decode(session.get(), &given, &error) == MOTE_OK);
    row = 0;
  }
}

}  // namespace

TEST("every golden model of pictures and texts gives every stored output") {
  const std::vector<std::string> names = test::golden_names("multimodal");
  TEST_ASSERT_EQUAL_UINT32(3, names.size());
  for (const std::string& name : names) {
    const test::AlignedBytes seeing_file = test::golden_tower(name, "vision"),
                             reading_file = test::golden_tower(name, "");
    const test::OpenModel seeing(seeing_file), reading(reading_file);
    const SafetensorsFile golden(test::golden_folder() / name / "golden.safetensors");
    const double tolerance = test::golden_tolerance(name);
    for (const mote_isa isa : test::all_families()) {
      CAPTURE(name, mote_isa_name(isa));
      const std::vector<Picture> pictures = see_all(seeing, isa, golden);
      const std::vector<float> expected = golden.f32("image_features");
      const std::vector<float> given = first_columns(pictures, golden.shape("image_features").at(1));
      TEST_ASSERT_EQUAL_UINT32(expected.size(), given.size());
      TEST_ASSERT_FLOAT_ARRAY_WITHIN(tolerance, expected.data(), given.data(), expected.size());
      for (const uint32_t chunk : {64u, 7u}) read_prompt(reading, isa, chunk, golden, pictures, tolerance);
    }
  }
}

TEST("a prompt that has not the pictures' tokens is refused") {
  const test::AlignedBytes file = test::golden_tower("qwen3_vl", "text");
  const test::OpenModel model(file);
  mote_vision_input_info vision_input;
  REQUIRE(mote_model_get_vision_input(model.get(), &vision_input, nullptr) == MOTE_OK);
  mote_program_info program;
  mote_model_get_program(model.get(), 0, &program);
  const std::vector<float> features(size_t{4} * vision_input.features);
  std::vector<float> values(size_t{8} * program.input_width);
  const mote_picture_vectors picture = {features.data(), 2, 2};
  const int32_t image = vision_input.image_id;
  const auto status = [&](const std::vector<int32_t>& ids, uint32_t count) {
    mote_error error{};
    return mote_vision_input_values(model.get(), ids.data(), static_cast<uint32_t>(ids.size()), &picture,
                                    count, values.data(), &error);
  };
  TEST_ASSERT_TRUE(status({5, image, image, image, image, 6}, 1) == MOTE_OK);
  TEST_ASSERT_TRUE(status({5, 6}, 0) == MOTE_OK);
  TEST_ASSERT_TRUE(status({5, 6}, 1) == MOTE_INVALID_ARGUMENT);
  TEST_ASSERT_TRUE(status({5, image, image, image, 6}, 1) == MOTE_INVALID_ARGUMENT);
  TEST_ASSERT_TRUE(status({5, image, image, image, image, image}, 1) == MOTE_INVALID_ARGUMENT);
  TEST_ASSERT_TRUE(status({5, image, image, image, image, 6}, 0) == MOTE_INVALID_ARGUMENT);
}
