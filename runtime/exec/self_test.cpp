// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "runtime/error.h"
#include "runtime/exec/session.h"

namespace mote {
namespace {

/// The largest difference of a row of logits or other outputs; infinite if one is NaN and the other is not.
float largest_difference(const float* logits, const flatbuffers::Vector<float>& expected) {
  float largest = 0;
  for (uint32_t i = 0; i < expected.size(); ++i) {
    if (isnan(logits[i]) && isnan(expected.Get(i))) continue;
    const float difference = fabsf(logits[i] - expected.Get(i));
    if (!(difference <= largest)) largest = isnan(difference) ? INFINITY : difference;
  }
  return largest;
}

/// An encoder's: the first row of the outputs.
mote_status replay_encode(mote_session* session, const file::SelfTest& test, mote_self_test* result,
                          mote_error* error) {
  const uint32_t length = test.ids()->size(), first = 0;
  mote_output_info output;
  mote_model_get_output(session->model, &output);
  mote_batch batch{};
  batch.ids = test.ids()->data();
  batch.values = data_of(test.values());
  batch.lengths = &length;
  batch.count = 1;
  batch.rows = output.of_sequences != 0 || session->programs[0].selects != kTokens ? nullptr : &first;
  batch.row_count = 1;
  const mote_status status = mote_encode(session, &batch, error);
  if (status != MOTE_OK) return status;
  result->largest_difference = largest_difference(mote_session_output(session, 0), *test.expected_logits());
  return MOTE_OK;
}

/// Tokens that come with floats: the last one's logits.
mote_status replay_rows(mote_session* session, const file::SelfTest& test, mote_self_test* result,
                        mote_error* error) {
  const uint32_t width = session->programs[0].input_width, count = test.ids()->size();
  mote_status status = MOTE_OK;
  for (uint32_t i = 0; i < count && status == MOTE_OK; ++i) {
    const mote_row row = {0, test.ids()->Get(i), 0, i + 1 == count};
    mote_rows call{};
    call.rows = &row;
    call.count = 1;
    call.values = test.values()->data() + size_t{i} * width;
    status = mote_compute(session, &call, error);
  }
  if (status != MOTE_OK) return status;
  result->largest_difference = largest_difference(mote_session_logits(session, 0), *test.expected_logits());
  return MOTE_OK;
}

/// Encodes the test's source, which is floats or the prompt's tokens.
mote_status replay_source(mote_session* session, const file::SelfTest& test, mote_error* error) {
  uint32_t length = test.ids()->size();
  mote_batch source{};
  if (size_of(test.values()) == 0) {
    source.ids = test.ids()->data();
  } else {
    source.values = test.values()->data();
    length = test.values()->size() / session->programs[whole_program(*session->model)].input_width;
  }
  source.lengths = &length;
  source.count = 1;
  return mote_encode(session, &source, error);
}

mote_status replay(mote_session* session, const file::SelfTest& test, mote_self_test* result,
                   mote_error* error) {
  if (session->programs[0].input_width != 0 && size_of(test.values()) != 0)
    return replay_rows(session, test, result, error);
  const mote_sampling greedy = mote_sampling_default();
  mote_status status = mote_sample_begin(session, &greedy, error);
  if (status == MOTE_OK && session->programs[0].sources != 0) status = replay_source(session, test, error);
  if (status == MOTE_OK) {
    status = mote_prefill(session, 0, test.ids()->data(), test.ids()->size(), MOTE_LOGITS_LAST, error);
  }
  if (status != MOTE_OK) return status;
  result->largest_difference = largest_difference(mote_session_logits(session, 0), *test.expected_logits());
  for (uint32_t i = 0; i < test.expected_ids()->size(); ++i) {
    int32_t id;
    status = mote_sample(session, 0, &id, error);
    if (status != MOTE_OK) return status;
    const int32_t expected = test.expected_ids()->Get(i);
    result->equal_ids += id == expected;
    if (i + 1 == test.expected_ids()->size()) break;
    status = mote_prefill(session, 0, &expected, 1, MOTE_LOGITS_LAST, error);
    if (status != MOTE_OK) return status;
  }
  return MOTE_OK;
}

}  // namespace
}  // namespace mote

using mote::fail;

extern "C" mote_status mote_session_self_test(mote_session* session, mote_self_test* result,
                                              mote_error* error) {
  const mote::file::SelfTest* test = session->model->root->self_test();
  if (test == nullptr) return fail(error, MOTE_WRONG_STATE, "the file holds no self test; convert it again");
  mote_status status = mote_session_truncate(session, 0, 0, error);
  if (status != MOTE_OK) return status;
  *result = {};
  result->tolerance = test->tolerance();
  result->ids = test->expected_ids()->size();
  status = session->model->encoder ? mote::replay_encode(session, *test, result, error)
                                   : mote::replay(session, *test, result, error);
  if (status == MOTE_OK) status = mote_session_truncate(session, 0, 0, error);
  if (status != MOTE_OK) return status;
  if (result->largest_difference <= result->tolerance && result->equal_ids == result->ids) return MOTE_OK;
  return fail(error, MOTE_SELF_TEST_FAILED,
              "the model's stored results are not reproduced: ", result->equal_ids, " of ", result->ids,
              " ids equal; convert it again, or this CPU or build computes wrongly");
}
