// SPDX-License-Identifier: Apache-2.0
//
// Adapters in tests/written as peft writes them, merged into golden models: from their files to what the
// original computes once it has merged them.
#include <nlohmann/json.hpp>

#include "tests/golden/golden_runs.h"
#include "tests/support/written.h"

namespace {

/// The golden model with the adapter, in f32.
test::AlignedBytes merged_file(const std::string& name, const std::string& base) {
  mote::convert::ConvertOptions options;
  options.type = "f32";
  options.adapters = {(test::written_folder() / name).string()};
  return test::kept_conversion("written_" + name, test::golden_folder() / base, options);
}

}  // namespace

TEST("written: each adapter that peft saved gives what the original's merge_and_unload computes") {
  const std::vector<std::string> names = test::written_names("adapter_");
  TEST_ASSERT_GREATER_OR_EQUAL(25, names.size());
  for (const std::string& name : names) {
    CAPTURE(name);
    const std::string base = test::written_json(name).at("base").get<std::string>();
    test::check_written(name, merged_file(name, base));
  }
}
