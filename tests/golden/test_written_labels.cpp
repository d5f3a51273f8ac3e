// SPDX-License-Identifier: Apache-2.0
//
// Models in tests/written with heads for labels and answers (scripts/make_written_labels), and the models of
// texts in what transformers 4 saves of models of pictures, sounds and texts (scripts/make_written_parents).
#include "converter/convert.h"
#include "host/base/error.h"
#include "tests/golden/golden_runs.h"
#include "tests/support/files.h"
#include "tests/support/written.h"

TEST("written: heads for labels and answers give the original's logits") {
  test::check_all_written("labels_", 13);
}

TEST("convert: vectors of a decoder whose layers go on from a state are refused by what its layers do") {
  const mote::testing::TempDirectory directory;
  mote::convert::ConvertOptions options;
  options.pooling = "mean";
  for (const char* name : {"lfm2", "mamba", "granitemoehybrid"}) {
    CAPTURE(name);
    const std::string message = mote::testing::message_of<mote::convert::Error>(
        [&] { mote::convert::convert(test::golden_folder() / name, directory / "out.mote", options); });
    TEST_ASSERT_TRUE(message.find("go on from a state") != std::string::npos);
  }
}

TEST(
    "written: the model of texts in what transformers 4 saved of pictures and texts gives the whole's "
    "logits") {
  test::check_all_written("parent_", 7);
}

TEST("written: T5's, mT5's and umT5's encoders alone give their token vectors") {
  test::check_all_written("encoder_", 3);
}
