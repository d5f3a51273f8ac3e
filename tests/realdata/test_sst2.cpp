// SPDX-License-Identifier: Apache-2.0
//
// A trained plain PyTorch encoder over the SST-2 validation set, from text to labels.
// tests/realdata/sst2_to_hf.py writes its directory to models/downloads/sst2_tiny_encoder.
#include "tests/support/realdata.h"
#include "tests/tools/command.h"

using namespace mote::testing;

TEST_CASE("sst2: at f32 as many labels are right as with the original") {
  const std::filesystem::path directory = ::test::fetched_model("sst2_tiny_encoder");
  const std::filesystem::path lines = ::test::realdata("sst2/dev872.tsv");
  SKIP_WITHOUT(directory)
  SKIP_WITHOUT(lines)
  const std::string model = (scratch() / "sst2.mote").string();
  assert_works(run("convert " + directory.string() + " -o " + model + " --type f32"));
  const nlohmann::json score =
      assert_json(run("eval " + model + " --json --truncate --accuracy " + lines.string()));
  TEST_ASSERT_EQUAL_UINT64(872, score.at("lines").get<size_t>());
  TEST_ASSERT_EQUAL_UINT64(711, score.at("right").get<size_t>());  // accuracy 0.81537 in its checkpoint
}
