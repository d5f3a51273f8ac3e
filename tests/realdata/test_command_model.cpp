// SPDX-License-Identifier: Apache-2.0
//
// The bundled model of home commands: its accuracy on the held-out split is what its card says, and
// quantizing costs little of it.
#include <nlohmann/json.hpp>

#include "tests/tools/command.h"

using namespace mote::testing;

namespace {

const std::string kFolder = std::string(MOTE_SOURCE_DIR) + "/models/commands";

double accuracy(const std::string& type) {
  const std::string path = (scratch() / ("commands." + type + ".mote")).string();
  assert_works(run("convert " + kFolder + " -o " + path + " --type " + type));
  const nlohmann::json score = assert_json(run("eval " + path + " --exact " + kFolder + "/test.tsv --json"));
  TEST_ASSERT_EQUAL_INT(1500, score.at("questions").get<int>());
  return 100 * score.at("accuracy").get<double>();
}

}  // namespace

TEST(
    "the command model answers 97.4 % of the held-out commands exactly, within 0.3 points at q8 and 1.0 at "
    "q4") {
  const double exact = accuracy("f32");
  TEST_ASSERT_DOUBLE_WITHIN(0.05, 97.4, exact);
  TEST_ASSERT_DOUBLE_WITHIN(0.3, exact, accuracy("q8"));
  TEST_ASSERT_DOUBLE_WITHIN(1.0, exact, accuracy("q4"));
}
