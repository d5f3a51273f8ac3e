// SPDX-License-Identifier: Apache-2.0
//
// Every model of pictures in tests/golden/models, from its files to the outputs of the original
// implementation.
#include <cmath>

#include "mote/pictures.h"
#include "tests/golden/golden_runs.h"
#include "tests/support/golden.h"

namespace {

using mote::convert::SafetensorsFile;

/// Arrays by their name, one sequence after the other.
using Arrays = std::map<std::string, std::vector<float>>;

void trace(void* user, const char* name, const float* data, uint32_t rows, uint32_t width, size_t stride) {
  std::vector<float>& to = (*static_cast<Arrays*>(user))[name];
  for (uint32_t row = 0; row < rows; ++row, data += stride) to.insert(to.end(), data, data + width);
}

/// Encodes sequences one after the other; `batch` has what does not depend on them.
class Runs {
 public:
  Runs(const test::OpenModel& model, mote_isa isa, uint32_t rows)
      : session_(model, options(model, isa, rows)) {
    mote_model_get_output(model.get(), &output_);
  }

  void encode(const mote_batch& batch) {
    mote_error error{};
    const mote_status status = mote_encode(session_.get(), &batch, &error);
    INFO(error.text);
    REQUIRE(status == MOTE_OK);
    for (uint32_t row = 0; const float* values = mote_session_output(session_.get(), row); ++row)
      trace(&arrays_, "output", values, 1, output_.width, output_.width);
  }

  /// Of pixel values [channels, height, width].
  void see(const mote_picture_info& picture, const float* pixels) {
    std::vector<float> rows(size_t{picture.rows} * picture.row_width);
    mote_picture_rows(&picture, pixels, rows.data());
    mote_batch batch{};
    batch.values = rows.data();
    batch.lengths = &picture.rows;
    batch.count = 1;
    encode(batch);
  }

  const Arrays& arrays() const { return arrays_; }

 private:
  mote_session_options options(const test::OpenModel& model, mote_isa isa, uint32_t rows) {
    mote_session_options options = mote_session_options_default(model.get());
    options.isa = isa;
    options.chunk = options.logit_rows = rows;
    options.trace = trace;
    options.trace_user = &arrays_;
    return options;
  }

  Arrays arrays_;
  test::OpenSession session_;
  mote_output_info output_;
};

Arrays see(const test::OpenModel& model, mote_isa isa, const SafetensorsFile& golden) {
  mote_picture_info picture;
  const std::vector<uint64_t> shape = golden.shape("pixel_values");
  REQUIRE(mote_picture_of_size(model.get(), static_cast<uint32_t>(shape.at(2)),
                               static_cast<uint32_t>(shape.at(3)), &picture, nullptr) == MOTE_OK);
  const std::vector<float> pixels = golden.f32("pixel_values");
  const size_t pictures = shape[0], size = pixels.size() / pictures;
  REQUIRE(size == size_t{picture.channels} * picture.height * picture.width);
  Runs runs(model, isa, picture.rows);
  for (size_t i = 0; i < pictures; ++i) {
    runs.see(picture, pixels.data() + i * size);
  }
  return runs.arrays();
}

/// The same of pictures that are stored as patches [patch, patch, channels], fewer than there is room for.
Arrays see_patches(const test::OpenModel& model, const SafetensorsFile& golden) {
  const std::vector<uint64_t> shape = golden.shape("pixel_values");
  const std::vector<float> values = golden.f32("pixel_values");
  const std::vector<int64_t> sides = golden.i64("spatial_shapes");
  Runs runs(model, MOTE_ISA_AUTO, static_cast<uint32_t>(shape.at(1)));
  for (size_t i = 0; i < shape[0]; ++i) {
    mote_picture_info native, picture;
    REQUIRE(mote_model_get_picture(model.get(), &native, nullptr) == MOTE_OK);
    const auto side = [&](size_t at) { return static_cast<uint32_t>(sides[2 * i + at]) * native.patch; };
    REQUIRE(mote_picture_of_size(model.get(), side(0), side(1), &picture, nullptr) == MOTE_OK);
    std::vector<float> pixels(size_t{picture.channels} * picture.height * picture.width);
    const float* from = values.data() + i * shape[1] * shape[2];
    for (uint32_t row = 0; row < picture.rows; ++row) {
      const size_t across = picture.width / picture.patch, top = row / across * picture.patch;
      for (size_t at = 0; at < shape[2]; ++at, ++from) {
        const size_t channel = at % picture.channels, place = at / picture.channels;
        const size_t y = top + place / picture.patch,
                     x = row % across * picture.patch + place % picture.patch;
        pixels[(channel * picture.height + y) * picture.width + x] = *from;
      }
    }
    runs.see(picture, pixels.data());
  }
  return runs.arrays();
}

/// The pictures of a model whose outputs are of the kind; others: false.
bool gives(const test::OpenModel& model, mote_output_kind kind, mote_output_info* output,
           mote_picture_info* picture) {
  mote_model_get_output(model.get(), output);
  if (output->kind != kind) return false;
  REQUIRE(mote_model_get_picture(model.get(), picture, nullptr) == MOTE_OK);
  return true;
}

/// Splits a detector's rows of outputs into the two arrays of the original, which are of the last rows.
void split_boxes(Arrays& arrays, const test::OpenModel& model) {
  mote_output_info output;
  mote_picture_info picture;
  if (!gives(model, MOTE_OUTPUT_BOXES, &output, &picture)) return;
  const std::vector<float> all = std::move(arrays["output"]);
  arrays["output"].clear();
  for (size_t row = 0; row < all.size() / output.width; ++row) {
    if (row % picture.rows < picture.rows - picture.after) continue;
    const float* values = all.data() + row * output.width;
    arrays["output"].insert(arrays["output"].end(), values, values + output.labels + 1);
    arrays["pred_boxes"].insert(arrays["pred_boxes"].end(), values + output.labels + 1,
                                values + output.width);
  }
}

/// Of a model of depth, rows of patches' pixels are lines of the picture.
void join_patches(Arrays& arrays, const test::OpenModel& model) {
  mote_output_info output;
  mote_picture_info picture;
  if (!gives(model, MOTE_OUTPUT_DEPTH, &output, &picture)) return;
  const std::vector<float> all = std::move(arrays["output"]);
  std::vector<float>& depths = arrays["predicted_depth"];
  const size_t side = picture.patch, across = picture.width / side,
               size = size_t{picture.height} * picture.width;
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t y = i % size / picture.width, x = i % picture.width;
    const size_t patch = y / side * across + x / side;
    depths.push_back(all[i / size * size + (patch * side + y % side) * side + x % side]);
  }
}

bool has_two_towers(const std::string& name) {
  return name == "clip" || name == "siglip" || name == "siglip2";
}

}  // namespace

TEST("every golden model of pictures gives every stored output") {
  size_t models = 0;
  for (const std::string& name : test::golden_names("vision")) {
    if (has_two_towers(name)) continue;
    ++models;
    const test::OpenModel model(test::golden_file(name, "f32"));
    const SafetensorsFile golden(test::golden_folder() / name / "golden.safetensors");
    for (const mote_isa isa : test::all_families()) {
      Arrays arrays = see(model, isa, golden);
      split_boxes(arrays, model);
      join_patches(arrays, model);
      for (const auto& [stored, tensor] : golden.tensors()) {
        if (tensor.dtype != "F32" || stored == "pixel_values") continue;
        CAPTURE(name, mote_isa_name(isa), stored);
        const std::vector<float> expected = golden.f32(stored);
        const std::vector<float>& given = arrays[stored == "logits" ? "output" : stored];
        TEST_ASSERT_EQUAL_UINT32(expected.size(), given.size());
        TEST_ASSERT_FLOAT_ARRAY_WITHIN(test::golden_tolerance(name), expected.data(), given.data(),
                                       expected.size());
      }
    }
  }
  TEST_ASSERT_GREATER_OR_EQUAL(4u, models);
}

TEST("towers of pictures and of texts give the stored vectors, and their logits by the stored scale") {
  for (const std::string name : {"clip", "siglip", "siglip2"}) {
    const test::AlignedBytes pictures_file = test::golden_tower(name, "vision"),
                             texts_file = test::golden_tower(name, "text");
    const test::OpenModel pictures(pictures_file), texts(texts_file);
    const SafetensorsFile golden(test::golden_folder() / name / "golden.safetensors");
    const auto& shape = golden.shape("input_ids");
    const std::vector<int64_t> ids = golden.i64("input_ids");
    const std::vector<int64_t> mask =
        golden.has("attention_mask") ? golden.i64("attention_mask") : std::vector<int64_t>(ids.size(), 1);
    Runs runs(texts, MOTE_ISA_AUTO, static_cast<uint32_t>(shape[1]));
    for (size_t row = 0; row < shape[0]; ++row) {
      std::vector<int32_t> text;
      for (size_t i = row * shape[1]; i < (row + 1) * shape[1]; ++i) {
        if (mask[i] != 0) text.push_back(static_cast<int32_t>(ids[i]));
      }
      const auto length = static_cast<uint32_t>(text.size());
      mote_batch batch{};
      batch.ids = text.data();
      batch.lengths = &length;
      batch.count = 1;
      runs.encode(batch);
    }
    const std::vector<float> text_vectors = runs.arrays().at("output");
    const std::vector<float> vectors =
        (golden.has("spatial_shapes") ? see_patches(pictures, golden) : see(pictures, MOTE_ISA_AUTO, golden))
            .at("output");
    const double tolerance = test::golden_tolerance(name);
    CAPTURE(name);
    const std::vector<float> expected_texts = golden.f32("text_embeds"),
                             expected = golden.f32("image_embeds");
    TEST_ASSERT_EQUAL_UINT32(expected_texts.size(), text_vectors.size());
    TEST_ASSERT_FLOAT_ARRAY_WITHIN(tolerance, expected_texts.data(), text_vectors.data(),
                                   text_vectors.size());
    TEST_ASSERT_EQUAL_UINT32(expected.size(), vectors.size());
    TEST_ASSERT_FLOAT_ARRAY_WITHIN(tolerance, expected.data(), vectors.data(), vectors.size());

    mote_picture_info picture;
    REQUIRE(mote_model_get_picture(pictures.get(), &picture, nullptr) == MOTE_OK);
    const std::vector<float> logits = golden.f32("logits_per_image");  // [pictures, texts]
    const size_t width = text_vectors.size() / shape[0];
    for (size_t i = 0; i < logits.size(); ++i) {
      float cosine = 0;
      for (size_t k = 0; k < width; ++k)
        cosine += vectors[i / shape[0] * width + k] * text_vectors[i % shape[0] * width + k];
      TEST_ASSERT_FLOAT_WITHIN(tolerance, logits[i],
                               picture.similarity_scale * cosine + picture.similarity_bias);
    }
  }
}
