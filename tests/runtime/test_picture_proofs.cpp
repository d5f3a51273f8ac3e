// SPDX-License-Identifier: Apache-2.0
//
// The steps that make pixel values of pictures are proved when a file is opened.
#include <cmath>

#include "tests/support/picture_graph.h"
#include "tests/support/unity_style.h"

namespace {

using namespace mote::convert;

using test::steps_of, test::step_of;

/// Opens an encoder of pictures with such steps.
mote_status opened(const std::vector<PictureStep>& steps, std::string* said = nullptr) {
  mote_error error{};
  const mote_status status = test::open_changed(test::picture_graph(steps), &error);
  if (said != nullptr) *said = error.text;
  return status;
}

using Kind = PictureStepKind;
using Kinds = std::vector<PictureStepKind>;

}  // namespace

TEST("pictures are resized at most once, then cropped or cut, then rescaled and normalized") {
  const std::vector<Kinds> right = {{},
                                    {Kind::resize},
                                    {Kind::resize_shorter, Kind::crop},
                                    {Kind::resize_bounded},
                                    {Kind::resize_evenly},
                                    {Kind::resize_pixels},
                                    {Kind::resize_patches},
                                    {Kind::resize_longer, Kind::tile},
                                    {Kind::crop}};
  const std::vector<Kinds> wrong = {{Kind::resize, Kind::resize},
                                    {Kind::crop, Kind::resize},
                                    {Kind::tile},
                                    {Kind::resize, Kind::tile},
                                    {Kind::resize_longer},
                                    {Kind::resize_longer, Kind::crop},
                                    {Kind::resize_pixels, Kind::crop},
                                    {Kind::resize_patches, Kind::crop},
                                    {Kind::resize, Kind::crop, Kind::crop},
                                    {Kind::rescale},
                                    {Kind::normalize},
                                    {Kind::resize, Kind::normalize},
                                    Kinds(9, Kind::resize)};
  TEST_ASSERT_EQUAL_INT(MOTE_OK, opened({}));
  for (const Kinds& kinds : right) TEST_ASSERT_EQUAL_INT(MOTE_OK, opened(steps_of(kinds)));
  for (const Kinds& kinds : wrong) TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, opened(steps_of(kinds)));
  std::vector<PictureStep> without = steps_of({Kind::resize});
  without.pop_back();
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, opened(without));
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, opened({step_of(Kind::resize)}));
}

TEST("a step of pictures of a kind that this build does not know is a newer file's") {
  std::vector<PictureStep> steps = steps_of({Kind::resize});
  steps[0].kind = static_cast<PictureStepKind>(static_cast<int>(mote::file::PictureStepKind::MAX) + 1);
  std::string said;
  TEST_ASSERT_EQUAL_INT(MOTE_UNSUPPORTED_FILE, opened(steps, &said));
  TEST_ASSERT_TRUE(test::says(said, "newer mote"));
}

TEST("a step of pictures has the numbers that its kind takes") {
  const auto refused = [](const Kinds& kinds, size_t index, const std::function<void(PictureStep&)>& change) {
    std::vector<PictureStep> steps = steps_of(kinds);
    change(steps.at(index));
    std::string said;
    TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, opened(steps, &said));
    TEST_ASSERT_TRUE(test::says(said, "pictures"));
  };
  for (const PictureStepKind kind : {Kind::resize, Kind::resize_shorter, Kind::resize_bounded,
                                     Kind::resize_evenly, Kind::resize_pixels, Kind::resize_patches}) {
    for (const uint32_t filter : {0u, 4u, 255u})
      refused({kind}, 0, [&](PictureStep& s) { s.filter = filter; });
  }
  for (const uint32_t side : {0u, (1u << 24) + 1, UINT32_MAX}) {
    for (const PictureStepKind kind :
         {Kind::resize, Kind::resize_shorter, Kind::resize_bounded, Kind::resize_evenly, Kind::crop})
      refused({kind}, 0, [&](PictureStep& s) { s.height = side; });
    for (const PictureStepKind kind : {Kind::resize, Kind::resize_evenly, Kind::crop})
      refused({kind}, 0, [&](PictureStep& s) { s.width = side; });
    for (const PictureStepKind kind :
         {Kind::resize_bounded, Kind::resize_evenly, Kind::resize_pixels, Kind::resize_patches})
      refused({kind}, 0, [&](PictureStep& s) { s.multiple = side; });
    refused({Kind::resize_bounded}, 0, [&](PictureStep& s) { s.most = side; });
    refused({Kind::resize_longer, Kind::tile}, 0, [&](PictureStep& s) { s.most = side; });
    refused({Kind::resize_longer, Kind::tile}, 1, [&](PictureStep& s) { s.height = side; });
  }
  refused({Kind::resize_longer, Kind::tile}, 0, [](PictureStep& s) { s.height = test::kPictureSide - 1; });
  refused({Kind::resize_longer, Kind::tile}, 1,
          [](PictureStep& s) { s.height = test::kPictureSide + test::kPicturePatch; });
  refused({Kind::resize_patches}, 0, [](PictureStep& s) { s.most = 0; });
  refused({Kind::resize_pixels}, 0, [](PictureStep& s) { s.least = 0; });
  refused({Kind::resize_pixels}, 0, [](PictureStep& s) { s.least = s.most + 1; });
  for (const float ratio : {0.0f, -1.0f, NAN})
    refused({Kind::resize_pixels}, 0, [&](PictureStep& s) { s.factor = ratio; });
  refused({}, 0, [](PictureStep& s) { s.factor = 0.0f; });
  refused({}, 1, [](PictureStep& s) { s.mean.pop_back(); });
  refused({}, 1, [](PictureStep& s) { s.std.clear(); });
  refused({}, 1, [](PictureStep& s) { s.std.push_back(1.0f); });
}
