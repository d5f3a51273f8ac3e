// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "tests/support/test_model.h"

namespace test {

using Sequences = std::vector<std::vector<int32_t>>;

/// All rows of outputs of some sequences in one run.
inline std::vector<float> encode(mote_session* session, const mote_output_info& output,
                                 const Sequences& sequences) {
  std::vector<int32_t> ids;
  std::vector<uint32_t> lengths;
  for (const auto& sequence : sequences) {
    ids.insert(ids.end(), sequence.begin(), sequence.end());
    lengths.push_back(static_cast<uint32_t>(sequence.size()));
  }
  const auto count = static_cast<uint32_t>(sequences.size());
  const mote_batch batch{ids.data(), nullptr, lengths.data(), count, nullptr, 0, nullptr, {}, {}, {}};
  mote_error error{};
  const mote_status status = mote_encode(session, &batch, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  std::vector<float> rows;
  const size_t row_count = output.of_sequences != 0 ? sequences.size() : ids.size();
  for (uint32_t row = 0; row < row_count; ++row) {
    const float* values = mote_session_output(session, row);
    REQUIRE(values != nullptr);
    rows.insert(rows.end(), values, values + output.width);
  }
  REQUIRE(mote_session_output(session, static_cast<uint32_t>(row_count)) == nullptr);
  return rows;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// For sequences of golden encoders.
inline mote_session_options options_for(const OpenModel& model, uint32_t batch, uint32_t threads = 1) {
  mote_session_options options = mote_session_options_default(model.get());
  options.batch = batch;
  options.chunk = options.logit_rows = 64;
  options.threads = threads;
  return options;
}

inline mote_output_info output_of(const OpenModel& model) {
  mote_output_info info;
  mote_model_get_output(model.get(), &info);
  return info;
}

}  // namespace test
