// SPDX-License-Identifier: Apache-2.0
//
// What other tools wrote, in tests/written, and what the original computes of it
// (scripts/make_written_models).
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "converter/readers/safetensors.h"
#include "schema/mote_generated.h"
#include "tests/support/test_model.h"

namespace test {

inline std::filesystem::path written_folder() {
  return std::filesystem::path(MOTE_SOURCE_DIR) / "tests" / "written";
}

inline nlohmann::json written_json(const std::string& name) {
  std::ifstream in(written_folder() / name / "written.json");
  return nlohmann::json::parse(in);
}

/// Of what is there, in order, those that start so.
inline std::vector<std::string> written_names(const std::string& start) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(written_folder())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(start)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The model's outputs for the ids, one after the other: of each token, or of the text.
inline std::vector<float> outputs_of(const OpenModel& model, const std::vector<int32_t>& ids) {
  const auto n = static_cast<uint32_t>(ids.size());
  mote_output_info output;
  mote_model_get_output(model.get(), &output);
  const bool decoder = output.kind == MOTE_OUTPUT_NEXT_TOKEN;
  mote_session_options options = mote_session_options_default(model.get());
  options.context = options.chunk = options.logit_rows = n;
  const OpenSession session(model, options);
  mote_error error{};
  const mote_batch batch{ids.data(), nullptr, &n, 1, nullptr, 0, nullptr, {}, {}, {}};
  const mote_status status = decoder ? mote_prefill(session.get(), 0, ids.data(), n, MOTE_LOGITS_ALL, &error)
                                     : mote_encode(session.get(), &batch, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  std::vector<float> values;
  for (uint32_t i = 0; i < (output.of_sequences != 0 ? 1 : n); ++i) {
    const float* row =
        decoder ? mote_session_logits(session.get(), i) : mote_session_output(session.get(), i);
    values.insert(values.end(), row, row + (decoder ? model.info().vocab : output.width));
  }
  return values;
}

/// Fails unless the values are the expected ones, to so much of the largest, or of 1.
inline void check_near(const std::vector<float>& expected, const std::vector<float>& actual, float bound) {
  REQUIRE(actual.size() == expected.size());
  float largest = 1.0f, difference = 0.0f;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::fabs(expected[i]));
    difference = std::max(difference, std::fabs(expected[i] - actual[i]));
  }
  CAPTURE(difference, largest);
  CHECK(difference <= bound * largest);
}

/// Fails unless the file computes what is stored, to 1e-5 of the largest value, or of 1.
inline void check_written(const std::string& name, const AlignedBytes& file) {
  const OpenModel model(file);
  const mote::convert::SafetensorsFile golden(written_folder() / name / "golden.safetensors");
  const std::vector<int64_t> stored = golden.i64("input_ids");
  const std::vector<float> expected = golden.f32("outputs");
  const std::vector<float> actual = outputs_of(model, {stored.begin(), stored.end()});
  check_near(expected, actual, 1e-5f);
}

/// Converts each written model whose name begins with `start`, `least` of them or more, to f32 and checks it.
inline void check_all_written(const std::string& start, size_t least) {
  const std::vector<std::string> names = written_names(start);
  TEST_ASSERT_GREATER_OR_EQUAL(least, names.size());
  for (const std::string& name : names) {
    CAPTURE(name);
    mote::convert::ConvertOptions options;
    options.type = "f32";
    check_written(name, kept_conversion("written_" + name, written_folder() / name, options));
  }
}

}  // namespace test
