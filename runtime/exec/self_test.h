// SPDX-License-Identifier: Apache-2.0
//
// The parts of a replay of the run that a file stores, which is whole (self_test.cpp) or in steps
// (self_test_steps.cpp).
#pragma once

#include <math.h>

#include "runtime/error.h"
#include "runtime/exec/session.h"

namespace mote {

/// Returns the largest difference of a row of logits or other outputs; infinite if one is NaN and the other
/// is not.
inline float largest_difference(const float* logits, const flatbuffers::Vector<float>& expected) {
  float largest = 0;
  for (uint32_t i = 0; i < expected.size(); ++i) {
    if (isnan(logits[i]) && isnan(expected.Get(i))) continue;
    const float difference = fabsf(logits[i] - expected.Get(i));
    if (!(difference <= largest)) largest = isnan(difference) ? INFINITY : difference;
  }
  return largest;
}

/// Returns an encoder's prompt, of which the first row has outputs.
inline mote_batch tested_batch(const mote_session* session, const file::SelfTest& test,
                               const uint32_t* length, const uint32_t* first) {
  mote_output_info output;
  mote_model_get_output(session->model, &output);
  mote_batch batch{};
  batch.ids = test.ids()->data();
  batch.values = data_of(test.values());
  batch.lengths = length;
  batch.count = 1;
  batch.rows = output.of_sequences != 0 || session->programs[0].selects != kTokens ? nullptr : first;
  batch.row_count = 1;
  return batch;
}

/// Returns the test's source, which is floats or the prompt's tokens; *length becomes its rows.
inline mote_batch tested_source(const mote_session* session, const file::SelfTest& test, uint32_t* length) {
  *length = test.ids()->size();
  mote_batch source{};
  if (size_of(test.values()) == 0) {
    source.ids = test.ids()->data();
  } else {
    source.values = test.values()->data();
    *length = test.values()->size() / session->programs[whole_program(*session->model)].input_width;
  }
  source.lengths = length;
  source.count = 1;
  return source;
}

/// Says whether the prompt's tokens come with floats.
inline bool tests_rows(const mote_session* session, const file::SelfTest& test) {
  return session->programs[0].input_width != 0 && size_of(test.values()) != 0;
}

/// Empties the session and says what is tested.
inline mote_status begin_self_test(mote_session* session, const file::SelfTest* test, mote_self_test* result,
                                   mote_error* error) {
  if (test == nullptr) return fail(error, MOTE_WRONG_STATE, "the file holds no self test; convert it again");
  const mote_status status = mote_session_truncate(session, 0, 0, error);
  if (status != MOTE_OK) return status;
  *result = {};
  result->tolerance = test->tolerance();
  result->ids = test->expected_ids()->size();
  return MOTE_OK;
}

/// Empties the session and judges the result.
inline mote_status end_self_test(mote_session* session, const mote_self_test& result, mote_error* error) {
  const mote_status status = mote_session_truncate(session, 0, 0, error);
  if (status != MOTE_OK) return status;
  if (result.largest_difference <= result.tolerance && result.equal_ids == result.ids) return MOTE_OK;
  return fail(error, MOTE_SELF_TEST_FAILED,
              "the model's stored results are not reproduced: ", result.equal_ids, " of ", result.ids,
              " ids equal; convert it again, or this CPU or build computes wrongly");
}

}  // namespace mote
