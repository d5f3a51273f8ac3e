// SPDX-License-Identifier: Apache-2.0
//
// Files of any size (--any-picture-size) against the originals with resized positions, tests/golden/sizes
// (make_sizes.py), and against files of one size.
#include <cmath>
#include <cstdio>
#include <functional>
#include <type_traits>

#include "mote/pictures.h"
#include "tests/golden/golden_runs.h"
#include "tests/support/golden.h"
#include "tests/support/graph_file.h"
#include "tests/support/thread_pool.h"

namespace {

using mote::convert::SafetensorsFile;

struct SizedModel {
  const char* name;
  const char* tower;
  const char* native;  // the output of its golden file; empty: its pictures are stored otherwise
  uint32_t side = 54;  // of the pictures that the file is made for
  std::vector<const char*> sizes = {"36x36", "48x12", "18x54"};
};

const SizedModel kSizedModels[] = {
    {"vit_classifier", "", "logits"},          {"deit_distilled", "", "logits"},
    {"dinov2", "", "pooler_output"},           {"dinov3_vit", "", "pooler_output"},
    {"clip", "vision", "image_embeds"},        {"siglip", "vision", "image_embeds"},
    {"depth_anything", "", "predicted_depth"}, {"siglip2", "vision", ""}};
const SizedModel kSizedDetector = {"yolos", "", ""};  // whose golden file has labels apart from boxes

// Their last sizes have odd numbers of patches, so that windows and fours are filled up.
const SizedModel kSizedSwin[] = {{"swin_classifier", "", "logits", 48, {"32x32", "60x32", "32x72", "44x36"}},
                                 {"swin", "", "pooler_output", 36, {"24x24", "54x22", "20x38", "26x30"}}};
constexpr uint32_t kRoom = 330;  // for the rows of all pictures

std::vector<SizedModel> all_sized_models() {
  std::vector<SizedModel> models(std::begin(kSizedModels), std::end(kSizedModels));
  models.push_back(kSizedDetector);
  models.insert(models.end(), std::begin(kSizedSwin), std::end(kSizedSwin));
  return models;
}

test::AlignedBytes file_of_any_size(const SizedModel& model, const std::string& type = "f32") {
  mote::convert::ConvertOptions options;
  options.type = type;
  options.tower = model.tower;
  options.any_picture_size = {model.side, model.side};
  return test::kept_conversion(std::string(model.name) + ".any_size_" + type,
                               test::golden_folder() / model.name, options);
}

/// Appends the outputs of a picture as the original has them: those of learned rows of a detector, depths in
/// the order of pixels.
void append_outputs(const mote_session* session, const mote_output_info& output,
                    const mote_picture_info& picture, std::vector<float>& all) {
  const uint32_t first = output.kind == MOTE_OUTPUT_BOXES ? picture.rows - picture.after : 0;
  const size_t begin = all.size(), side = picture.patch, across = picture.width / side;
  for (uint32_t row = first; const float* values = mote_session_output(session, row); ++row)
    all.insert(all.end(), values, values + output.width);
  if (output.kind != MOTE_OUTPUT_DEPTH) return;
  const std::vector<float> patches(all.begin() + static_cast<ptrdiff_t>(begin), all.end());
  REQUIRE(patches.size() == size_t{picture.height} * picture.width);
  for (size_t i = 0; i < patches.size(); ++i) {
    const size_t y = i / picture.width, x = i % picture.width, patch = y / side * across + x / side;
    all[begin + i] = patches[(patch * side + y % side) * side + x % side];
  }
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
  options.logit_rows = chunk;
  const test::OpenSession session(model, options);
  mote_output_info output;
  mote_model_get_output(model.get(), &output);
  std::vector<float> all;
  const uint32_t columns = picture.width / picture.patch;
  const size_t size = size_t{picture.channels} * picture.height * picture.width;
  for (size_t i = 0; i < shape[0]; ++i) {
    std::vector<float> rows(size_t{picture.rows} * picture.row_width);
    mote_picture_rows(&picture, pixels.data() + i * size, rows.data());
    mote_batch batch{};
    batch.values = rows.data();
    batch.lengths = &picture.rows;
    batch.columns = &columns;
    batch.count = 1;
    REQUIRE(mote_encode(session.get(), &batch, nullptr) == MOTE_OK);
    append_outputs(session.get(), output, picture, all);
  }
  return all;
}

}  // namespace

TEST("a file of any size gives the original's outputs for square, wide and tall pictures") {
  for (const SizedModel& one : all_sized_models()) {
    const test::AlignedBytes file = file_of_any_size(one);
    const test::OpenModel model(file);
    const SafetensorsFile golden(test::golden_folder() / "../sizes" /
                                 (std::string(one.name) + ".safetensors"));
    for (const char* size : one.sizes) {
      const std::string key = std::string("pixel_values.") + size;
      const std::vector<float> pixels = golden.f32(key), expected = golden.f32(std::string("output.") + size);
      for (const mote_isa isa : test::all_families()) {
        CAPTURE(one.name, size, mote_isa_name(isa));
        const std::vector<float> given = output_of(model, isa, golden.shape(key), pixels, kRoom);
        TEST_ASSERT_EQUAL_UINT32(expected.size(), given.size());
        TEST_ASSERT_FLOAT_ARRAY_WITHIN(test::golden_tolerance(one.name), expected.data(), given.data(),
                                       given.size());
      }
    }
  }
}

TEST("a file of any size gives the stored outputs for the model's own size") {
  for (const SizedModel& one : all_sized_models()) {
    if (*one.native == 0) continue;
    const test::AlignedBytes file = file_of_any_size(one);
    const test::OpenModel model(file);
    const SafetensorsFile golden(test::golden_folder() / one.name / "golden.safetensors");
    const std::vector<float> pixels = golden.f32("pixel_values"), expected = golden.f32(one.native),
                             given =
                                 output_of(model, MOTE_ISA_AUTO, golden.shape("pixel_values"), pixels, kRoom);
    CAPTURE(one.name);
    TEST_ASSERT_EQUAL_UINT32(expected.size(), given.size());
    TEST_ASSERT_FLOAT_ARRAY_WITHIN(test::golden_tolerance(one.name), expected.data(), given.data(),
                                   given.size());
  }
}

TEST("a picture has the same bits in a session that has room for larger ones") {
  for (const char* type : {"f32", "q8"}) {
    for (const SizedModel& one :
         {kSizedModels[0], kSizedModels[6], kSizedDetector, kSizedSwin[0], kSizedSwin[1]}) {
      const test::AlignedBytes file = file_of_any_size(one, type);
      const test::OpenModel model(file);
      const SafetensorsFile golden(test::golden_folder() / "../sizes" /
                                   (std::string(one.name) + ".safetensors"));
      const std::string key = std::string("pixel_values.") + one.sizes[1];
      const std::vector<float> pixels = golden.f32(key);
      const auto shape = golden.shape(key);
      mote_picture_info picture;
      REQUIRE(mote_picture_of_size(model.get(), static_cast<uint32_t>(shape.at(2)),
                                   static_cast<uint32_t>(shape.at(3)), &picture, nullptr) == MOTE_OK);
      CHECK(output_of(model, MOTE_ISA_AUTO, shape, pixels, picture.rows) ==
            output_of(model, MOTE_ISA_AUTO, shape, pixels, picture.most_rows));
    }
  }
}

TEST("pictures of several sizes in one run have the bits that each has alone") {
  for (const SizedModel& one : {kSizedModels[6], kSizedDetector, kSizedSwin[0], kSizedSwin[1]}) {
    const test::AlignedBytes file = file_of_any_size(one, "q8");
    const test::OpenModel model(file);
    const SafetensorsFile golden(test::golden_folder() / "../sizes" /
                                 (std::string(one.name) + ".safetensors"));
    mote_output_info output;
    mote_model_get_output(model.get(), &output);
    std::vector<float> rows, alone, together;
    std::vector<uint32_t> lengths, columns;
    uint32_t all = 0;
    for (const char* size : one.sizes) {
      const std::string key = std::string("pixel_values.") + size;
      const std::vector<float> pixels = golden.f32(key);
      mote_picture_info picture;
      REQUIRE(mote_picture_of_size(model.get(), static_cast<uint32_t>(golden.shape(key).at(2)),
                                   static_cast<uint32_t>(golden.shape(key).at(3)), &picture,
                                   nullptr) == MOTE_OK);
      rows.resize(rows.size() + size_t{picture.rows} * picture.row_width);
      mote_picture_rows(&picture, pixels.data(), rows.data() + size_t{all} * picture.row_width);
      lengths.push_back(picture.rows);
      columns.push_back(picture.width / picture.patch);
      all += picture.rows;
    }
    for (const uint32_t threads : {1u, 2u}) {
      const test::ThreadPool pool(threads);
      mote_session_options options = mote_session_options_default(model.get());
      options.platform = pool.platform();
      options.threads = threads;
      options.chunk = options.logit_rows = all;
      options.batch = static_cast<uint32_t>(lengths.size());
      const test::OpenSession session(model, options);
      const auto outputs = [&](mote_batch batch, std::vector<float>& to) {
        REQUIRE(mote_encode(session.get(), &batch, nullptr) == MOTE_OK);
        for (uint32_t row = 0; const float* values = mote_session_output(session.get(), row); ++row)
          to.insert(to.end(), values, values + output.width);
      };
      mote_batch batch{};
      batch.lengths = lengths.data();
      batch.columns = columns.data();
      batch.values = rows.data();
      batch.count = options.batch;
      together.clear();
      outputs(batch, together);
      alone.clear();
      batch.count = 1;
      for (size_t i = 0; i < lengths.size(); ++i) {
        outputs(batch, alone);
        batch.values += size_t{lengths[i]} * rows.size() / all;
        ++batch.lengths;
        ++batch.columns;
      }
      CAPTURE(one.name, threads);
      CHECK(alone == together);
    }
  }
}

TEST("a picture whose lines do not fit, and columns of no picture, are refused") {
  const test::AlignedBytes file = file_of_any_size(kSizedDetector);
  const test::OpenModel model(file);
  mote_session_options options = mote_session_options_default(model.get());
  options.chunk = options.logit_rows = 90;
  const test::OpenSession session(model, options);
  mote_program_info program;
  mote_model_get_program(model.get(), 0, &program);
  const auto refusal = [&](uint32_t rows, uint32_t columns) {
    const std::vector<float> values(size_t{rows} * program.input_width);
    mote_batch batch{};
    batch.values = values.data();
    batch.lengths = &rows;
    batch.columns = columns == 0 ? nullptr : &columns;
    batch.count = 1;
    mote_error error{};
    return mote_encode(session.get(), &batch, &error) == MOTE_OK ? std::string() : std::string(error.text);
  };
  CHECK(refusal(30, 0).empty());  // its own: 1 + 4 * 6 + 5 rows
  CHECK(refusal(30, 8).empty());
  CHECK(refusal(26, 0).empty());  // a line
  CHECK(refusal(26, 5).empty());
  CHECK(refusal(26, 3).find("lines of 3 patches do not fit") != std::string::npos);
  CHECK(refusal(6, 1).find("lines of 1 patches do not fit") != std::string::npos);
  const test::AlignedBytes texts =
      test::kept_conversion("bert.for_columns", test::golden_folder() / "bert", {});
  const test::OpenModel reader(texts);
  const test::OpenSession reading(reader, mote_session_options_default(reader.get()));
  const int32_t id = 1;
  const uint32_t length = 1, columns = 1;
  mote_batch batch{};
  batch.ids = &id;
  batch.lengths = &length;
  batch.columns = &columns;
  batch.count = 1;
  mote_error error{};
  CHECK(mote_encode(reading.get(), &batch, &error) == MOTE_INVALID_ARGUMENT);
  CHECK(std::string(error.text).find("this model takes none") != std::string::npos);
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

TEST("a file of any size in 8 bits gives nearly the original's outputs of windows") {
  for (const SizedModel& one : kSizedSwin) {
    const test::AlignedBytes file = file_of_any_size(one, "q8");
    const test::OpenModel model(file);
    const SafetensorsFile golden(test::golden_folder() / "../sizes" /
                                 (std::string(one.name) + ".safetensors"));
    for (const char* size : one.sizes) {
      const std::string key = std::string("pixel_values.") + size;
      const std::vector<float> expected = golden.f32(std::string("output.") + size),
                               given =
                                   output_of(model, MOTE_ISA_AUTO, golden.shape(key), golden.f32(key), kRoom);
      double product = 0, of_expected = 0, of_given = 0;
      for (size_t i = 0; i < expected.size(); ++i) {
        product += double{expected[i]} * given[i];
        of_expected += double{expected[i]} * expected[i];
        of_given += double{given[i]} * given[i];
      }
      CAPTURE(one.name, size);
      // A rounding to 8 bits moves a row by at most 1 / 254 of its largest number in each column; a row that
      // has moved by 4.5 % of its length has this cosine.
      CHECK(product / std::sqrt(of_expected * of_given) > 0.999);
    }
  }
}

TEST("pictures of fewer patches than a window has on a side are refused, as the original refuses them") {
  const test::AlignedBytes file = file_of_any_size(kSizedSwin[0]);
  const test::OpenModel model(file);
  mote_picture_info picture;
  mote_error error{};
  CHECK(mote_picture_of_size(model.get(), 28, 80, &picture, &error) == MOTE_OK);
  CHECK(mote_picture_of_size(model.get(), 24, 80, &picture, &error) == MOTE_INVALID_ARGUMENT);
  CHECK(std::string(error.text).find("at least 28 x 28") != std::string::npos);
  CHECK(mote_picture_of_size(model.get(), 80, 24, &picture, &error) == MOTE_INVALID_ARGUMENT);
  mote_session_options options = mote_session_options_default(model.get());
  options.chunk = kRoom;
  const test::OpenSession session(model, options);
  mote_program_info program;
  mote_model_get_program(model.get(), 0, &program);
  const auto refusal = [&](uint32_t rows, uint32_t columns) {
    const std::vector<float> values(size_t{rows} * program.input_width);
    mote_batch batch{};
    batch.values = values.data();
    batch.lengths = &rows;
    batch.columns = columns == 0 ? nullptr : &columns;
    batch.count = 1;
    error = {};
    return mote_encode(session.get(), &batch, &error) == MOTE_OK ? std::string() : std::string(error.text);
  };
  CHECK(refusal(64, 0).empty());  // its own
  CHECK(refusal(49, 7).empty());
  CHECK(refusal(48, 6).find("6 x 8 patches; this model takes at least 7") != std::string::npos);
  CHECK(refusal(48, 8).find("8 x 6 patches") != std::string::npos);
  CHECK(refusal(49, 0).find("49 x 1 patches") != std::string::npos);
  CHECK(refusal(144, 144).find("144 x 1 patches") != std::string::npos);
}

TEST("operations over pictures of any size are refused where the file has one, or their numbers do not fit") {
  using mote::file::Feature;
  const auto refusal = [](const SizedModel& one, const std::function<void(mote::file::Model*)>& change) {
    mote_error error{};
    CHECK(test::open_changed(file_of_any_size(one), &error, change) == MOTE_CORRUPT_FILE);
    return std::string(error.text);
  };
  /// Changes the first operation of the kind.
  const auto first = [](auto get, auto change) {
    return [get, change](mote::file::Model* root) {
      for (const mote::file::Op* op : *root->programs()->Get(0)->ops()) {
        const auto* found = get(op);
        if (found == nullptr) continue;
        REQUIRE(change(const_cast<std::remove_const_t<std::remove_pointer_t<decltype(found)>>*>(found)));
        return;
      }
    };
  };
  const SizedModel& depth = kSizedModels[6];
  for (const SizedModel& one : {depth, kSizedDetector}) {
    CHECK(refusal(one, [](mote::file::Model* root) {
            root->mutate_required_features(root->required_features() & ~Feature::grid_sizes);
          }).find("but the file says that they have one") != std::string::npos);
  }
  CHECK(refusal(kSizedDetector, first([](auto* op) { return op->args_as_GridPositions(); },
                                      [](auto* op) { return op->mutate_lines(op->lines() + 1); }))
            .find("table is not f32") != std::string::npos);
  CHECK(refusal(depth, first([](auto* op) { return op->args_as_GridFrames(); },
                             [](auto* op) { return op->mutate_times(5000); }))
            .find("5000 places for every") != std::string::npos);
  CHECK(refusal(depth, first([](auto* op) { return op->args_as_GridResize(); },
                             [](auto* op) { return op->mutate_out_times(0); }))
            .find("pictures of any size to one size") != std::string::npos);
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
  CHECK(refusal("beit_classifier", {48, 48}).find("pictures of any size are not supported") !=
        std::string::npos);
  CHECK(refusal("vit_classifier", {50, 48}).find("multiples of 6") != std::string::npos);
  CHECK(refusal("llama", {48, 48}).find("is for models of pictures") != std::string::npos);
}
