// SPDX-License-Identifier: Apache-2.0
//
// The mutator reaches behind the first checks, and what it makes is refused or runs.
#include <algorithm>

#include "runtime/file/file.h"
#include "tests/fuzz/mutate_model.h"
#include "tests/support/any_file.h"
#include "tests/support/files.h"
#include "tests/support/unity_style.h"

TEST("files changed by the schema are refused or run") {
  const std::string kept = mote::testing::read_text(MOTE_SOURCE_DIR "/tests/golden/formats/v1_decoder.mote");
  const test::AlignedBytes whole(kept.data(), kept.size());
  TEST_ASSERT_EQUAL_INT(MOTE_OK, test::open_and_run(whole));
  uint32_t ran = 0, refused = 0, unchanged = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const test::AlignedBytes file(whole);
    TEST_ASSERT_TRUE(fuzz::mutate_model(file.data(), file.size(), seed));
    unchanged += std::equal(file.data(), file.data() + file.size(), whole.data());
    (test::open_and_run(file) == MOTE_OK ? ran : refused)++;
  }
  CAPTURE(ran, refused, unchanged);
  TEST_ASSERT_LESS_THAN(200, unchanged);
  TEST_ASSERT_GREATER_THAN(100, ran);
  TEST_ASSERT_GREATER_THAN(1000, refused);
}

TEST("the mutator leaves alone what it cannot walk") {
  uint64_t zeros[8] = {};
  TEST_ASSERT_FALSE(fuzz::mutate_model(reinterpret_cast<uint8_t*>(zeros), sizeof zeros, 1));
  TEST_ASSERT_FALSE(fuzz::mutate_model(reinterpret_cast<uint8_t*>(zeros), 0, 1));
}

TEST("the mutator leaves alone an operation of a type that the verifier skips") {
  using mote::file::OpArgs;
  const std::string kept = mote::testing::read_text(MOTE_SOURCE_DIR "/tests/golden/formats/v1_decoder.mote");
  for (const OpArgs type : {OpArgs::NONE, static_cast<OpArgs>(static_cast<uint8_t>(OpArgs::MAX) + 1)}) {
    const test::AlignedBytes file(kept.data(), kept.size());
    const auto* op = mote::file::GetSizePrefixedModel(file.data())->programs()->Get(0)->ops()->Get(0);
    const auto* at =
        reinterpret_cast<const flatbuffers::Table*>(op)->GetAddressOf(mote::file::Op::VT_ARGS_TYPE);
    file.data()[at - file.data()] = static_cast<uint8_t>(type);
    for (uint32_t seed = 0; seed < 100; ++seed)
      TEST_ASSERT_FALSE(fuzz::mutate_model(file.data(), file.size(), seed));
  }
}
