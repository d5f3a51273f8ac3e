// SPDX-License-Identifier: Apache-2.0
//
// The digit reader of models/digits, in the type that is used: held-out pictures, of which it must read as
// many as its README says.
#include <fstream>

#include "tests/support/test_model.h"

namespace {

struct Picture {
  std::string label;
  std::vector<float> pixels;  // [3, 28, 28]
};

/// Lines of a digit and the grey levels in hexadecimal digits.
std::vector<Picture> held_out(const mote_picture_info& info) {
  std::ifstream in(std::filesystem::path(MOTE_SOURCE_DIR) / "models/digits/test.txt");
  std::vector<Picture> pictures;
  for (std::string label, hex; in >> label >> hex;) {
    const size_t count = size_t{info.height} * info.width;
    REQUIRE(hex.size() == 2 * count);
    Picture picture{label, {}};
    for (uint32_t channel = 0; channel < info.channels; ++channel) {
      for (size_t i = 0; i < count; ++i) {
        const int grey = std::stoi(hex.substr(2 * i, 2), nullptr, 16);
        const float value = static_cast<float>(grey) * info.rescale;
        picture.pixels.push_back((value - info.mean[channel]) / info.deviation[channel]);
      }
    }
    pictures.push_back(std::move(picture));
  }
  return pictures;
}

}  // namespace

TEST("digits: at least 95 of 100 held-out pictures are read in 8 bits") {
  const std::filesystem::path path = test::temporary_folder() / "digits.mote";
  mote::convert::ConvertOptions options;
  options.type = "q8";
  mote::convert::convert(std::filesystem::path(MOTE_SOURCE_DIR) / "models/digits", path, options);
  const test::AlignedBytes file = test::read_file(path);
  const test::OpenModel model(file);
  mote_picture_info info;
  REQUIRE(mote_model_get_picture(model.get(), &info, nullptr) == MOTE_OK);
  mote_session_options session_options = mote_session_options_default(model.get());
  session_options.chunk = session_options.context = info.rows;
  const test::OpenSession session(model, session_options);
  const std::vector<Picture> pictures = held_out(info);
  TEST_ASSERT_EQUAL_UINT64(100, pictures.size());
  size_t right = 0;
  std::vector<float> rows(size_t{info.rows} * info.row_width);
  for (const Picture& picture : pictures) {
    mote_picture_rows(&info, picture.pixels.data(), rows.data());
    mote_batch batch = {};
    batch.lengths = &info.rows;
    batch.count = 1;
    batch.values = rows.data();
    REQUIRE(mote_encode(session.get(), &batch, nullptr) == MOTE_OK);
    const float* logits = mote_session_output(session.get(), 0);
    const auto best = static_cast<uint32_t>(std::max_element(logits, logits + 10) - logits);
    right += picture.label == mote_model_label(model.get(), best) ? 1 : 0;
  }
  TEST_ASSERT_GREATER_OR_EQUAL(95u, right);
}
