// SPDX-License-Identifier: Apache-2.0
//
// The digit reader of models/digits and the keyword spotter of models/keywords, in the type that is used:
// held-out data, of which 95 of 100 must be right.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "mote/pictures.h"
#include "mote/sound.h"
#include "tests/support/test_model.h"

namespace {

std::filesystem::path own_model(const char* name) {
  return std::filesystem::path(MOTE_SOURCE_DIR) / "models" / name;
}

/// The bytes of a file of MNIST's format.
std::vector<uint8_t> read_idx(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  REQUIRE(bytes.size() > 4);
  const size_t header = 4 + 4 * static_cast<size_t>(bytes[3]);
  REQUIRE(bytes.size() > header);
  return {bytes.begin() + static_cast<ptrdiff_t>(header), bytes.end()};
}

/// A model of models/ in 8 bits with a session for sequences of `rows` rows.
struct OwnModel {
  explicit OwnModel(const char* name) : file(converted(name)), model(file) {}

  static test::AlignedBytes converted(const char* name) {
    const std::filesystem::path path = test::temporary_folder() / (std::string(name) + ".mote");
    mote::convert::ConvertOptions options;
    options.type = "q8";
    mote::convert::convert(own_model(name), path, options);
    return test::read_file(path);
  }

  void start(uint32_t rows) {
    mote_session_options options = mote_session_options_default(model.get());
    options.chunk = options.context = length = rows;
    session.emplace(model, options);
  }

  /// The label of rows of numbers.
  uint32_t label(const std::vector<float>& rows) {
    mote_batch batch = {};
    batch.lengths = &length;
    batch.count = 1;
    batch.values = rows.data();
    REQUIRE(mote_encode(session->get(), &batch, nullptr) == MOTE_OK);
    mote_output_info output;
    mote_model_get_output(model.get(), &output);
    const float* logits = mote_session_output(session->get(), 0);
    return static_cast<uint32_t>(std::max_element(logits, logits + output.labels) - logits);
  }

  test::AlignedBytes file;
  test::OpenModel model;
  std::optional<test::OpenSession> session;
  uint32_t length = 0;
};

}  // namespace

TEST("digits: at least 95 of 100 held-out pictures are read in 8 bits") {
  OwnModel own("digits");
  mote_picture_info info;
  REQUIRE(mote_model_get_picture(own.model.get(), &info, nullptr) == MOTE_OK);
  REQUIRE(info.step_count >= 2);
  const mote_picture_step &rescale = info.steps[info.step_count - 2],
                          &normalize = info.steps[info.step_count - 1];
  own.start(info.rows);
  const std::vector<uint8_t> pictures = read_idx(own_model("digits") / "test-images.idx"),
                             digits = read_idx(own_model("digits") / "test-digits.idx");
  const size_t size = size_t{info.height} * info.width;
  TEST_ASSERT_EQUAL_UINT64(200, digits.size());
  REQUIRE(pictures.size() == digits.size() * size);
  std::vector<float> pixels(info.channels * size), rows(size_t{info.rows} * info.row_width);
  size_t right = 0;
  for (size_t i = 0; i < digits.size(); ++i) {
    for (size_t at = 0; at < pixels.size(); ++at) {
      const float value = static_cast<float>(pictures[i * size + at % size]) * rescale.factor;
      pixels[at] = (value - normalize.mean[at / size]) / normalize.deviation[at / size];
    }
    mote_picture_rows(&info, pixels.data(), rows.data());
    right += own.label(rows) == digits[i] ? 1 : 0;
  }
  TEST_ASSERT_GREATER_OR_EQUAL(190u, right);
}

TEST("keywords: at least 95 of 100 held-out words are heard in 8 bits") {
  OwnModel own("keywords");
  mote_sound_info sound;
  mote_model_get_sound(own.model.get(), &sound);
  own.start(mote_sound_square_rows(&sound));
  const std::vector<uint8_t> spectra = read_idx(own_model("keywords") / "test-features.idx"),
                             labels = read_idx(own_model("keywords") / "test-labels.idx");
  const size_t size = size_t{sound.frames} * sound.bins;
  TEST_ASSERT_EQUAL_UINT64(100, labels.size());
  REQUIRE(spectra.size() == labels.size() * size);
  std::vector<float> spectrum(size), rows(size_t{own.length} * sound.patch * sound.patch);
  size_t right = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    // A byte is an 80th, 128 stands for 0.5.
    for (size_t at = 0; at < size; ++at)
      spectrum[at] = static_cast<float>(spectra[i * size + at] - 128) / 80.0f + 0.5f;
    mote_sound_squares(&sound, spectrum.data(), rows.data());
    right += own.label(rows) == labels[i] ? 1 : 0;
  }
  TEST_ASSERT_GREATER_OR_EQUAL(95u, right);
}
