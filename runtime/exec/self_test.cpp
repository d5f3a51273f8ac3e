// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/self_test.h"

namespace mote {
namespace {

/// An encoder's: the first row of the outputs.
mote_status replay_encode(mote_session* session, const file::SelfTest& test, mote_self_test* result,
                          mote_error* error) {
  const uint32_t length = test.ids()->size(), first = 0;
  const mote_batch batch = tested_batch(session, test, &length, &first);
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

mote_status replay_source(mote_session* session, const file::SelfTest& test, mote_error* error) {
  uint32_t length = 0;
  const mote_batch source = tested_source(session, test, &length);
  return mote_encode(session, &source, error);
}

mote_status replay(mote_session* session, const file::SelfTest& test, mote_self_test* result,
                   mote_error* error) {
  if (tests_rows(session, test)) return replay_rows(session, test, result, error);
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

extern "C" mote_status mote_session_self_test(mote_session* session, mote_self_test* result,
                                              mote_error* error) {
  const mote::file::SelfTest* const test = session->model->root->self_test();
  mote_status status = mote::begin_self_test(session, test, result, error);
  if (status != MOTE_OK) return status;
  status = session->model->encoder ? mote::replay_encode(session, *test, result, error)
                                   : mote::replay(session, *test, result, error);
  return status != MOTE_OK ? status : mote::end_self_test(session, *result, error);
}
