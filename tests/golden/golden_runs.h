// SPDX-License-Identifier: Apache-2.0
//
// What the tests of golden models share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "converter/readers/safetensors.h"
#include "tests/support/test_model.h"

namespace test {

/// Rows that a session traces, by their golden name, one after the other.
struct TracedRows {
  std::map<std::string, std::vector<float>> values;

  void trace(mote_session_options& options) {
    options.trace = take;
    options.trace_user = this;
  }
  static void take(void* user, const char* name, const float* data, uint32_t rows, uint32_t width,
                   size_t stride) {
    std::vector<float>& to = static_cast<TracedRows*>(user)->values[name];
    for (uint32_t row = 0; row < rows; ++row, data += stride) to.insert(to.end(), data, data + width);
  }
};

/// The tokens that follow `ids`, `steps` of them whatever the model stops at.
inline std::vector<int32_t> continuation(const OpenSession& session, const std::vector<int32_t>& ids,
                                         size_t steps) {
  mote_generation generation = mote_generation_default();
  generation.max_tokens = static_cast<uint32_t>(steps);
  generation.ignore_model_stops = 1;
  std::vector<int32_t> generated;
  const auto collect = [](void* user, int32_t id) -> int {
    static_cast<std::vector<int32_t>*>(user)->push_back(id);
    return 0;
  };
  REQUIRE(mote_generate(session.get(), ids.data(), static_cast<uint32_t>(ids.size()), &generation, collect,
                        &generated, nullptr, nullptr) == MOTE_OK);
  return generated;
}

/// One part of a golden model of two, in f32.
inline AlignedBytes golden_tower(const std::string& name, const std::string& tower) {
  mote::convert::ConvertOptions options;
  options.type = "f32";
  options.tower = tower;
  return kept_conversion(name + ".tower_" + tower, golden_folder() / name, options);
}

/// check(name, model, golden) for each of at least `least` models.
template <class Check>
void for_each_golden(const std::vector<std::string>& names, size_t least, const Check& check) {
  TEST_ASSERT_GREATER_OR_EQUAL(least, names.size());
  for (const std::string& name : names) {
    const OpenModel model(golden_file(name, "f32"));
    const mote::convert::SafetensorsFile golden(golden_folder() / name / "golden.safetensors");
    check(name, model, golden);
  }
}

}  // namespace test
