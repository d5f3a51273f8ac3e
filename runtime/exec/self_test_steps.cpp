// SPDX-License-Identifier: Apache-2.0
//
// The replay of a file's own run in bounded steps. The length of sequence 0 says how far it is.
#include "runtime/exec/compute.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/self_test.h"

namespace mote {
namespace {

/// Compares the outputs or logits of a run that is done.
mote_status compare(const float* values, const file::SelfTest& test, mote_self_test* result,
                    mote_error* error) {
  if (values == nullptr) return fail(error, MOTE_WRONG_STATE, "another call has ended this self test");
  result->largest_difference = largest_difference(values, *test.expected_logits());
  return MOTE_OK;
}

/// Begins to compute a row of the prompt, which comes with floats.
mote_status begin_row(mote_session* session, const file::SelfTest& test, uint32_t index, mote_error* error) {
  const mote_row row = {0, test.ids()->Get(index), 0, index + 1 == test.ids()->size()};
  mote_rows call{};
  call.rows = &row;
  call.count = 1;
  call.values = test.values()->data() + size_t{index} * session->programs[0].input_width;
  return mote_compute_begin(session, &call, error);
}

/// Begins to compute the first of n ids.
mote_status begin_ids(mote_session* session, const int32_t* ids, uint32_t n, mote_error* error) {
  mote_status status = check_ids_alone(session, error);
  if (status == MOTE_OK) status = check_ids(session, ids, n, error);
  if (status == MOTE_OK) status = check_room(session, 0, n, error);
  if (status == MOTE_OK) begin_chunk(session, 0, ids, n, MOTE_LOGITS_LAST);
  return status;
}

/// Compares the logits behind the prompt, or the id behind them with what is expected; begins the next id
/// unless that was the last.
mote_status take_logits(mote_session* session, const file::SelfTest& test, mote_self_test* result,
                        mote_error* error) {
  const uint32_t index = session->lengths[0] - test.ids()->size(), ids = test.expected_ids()->size();
  mote_status status = MOTE_OK;
  if (index == 0) status = compare(mote_session_logits(session, 0), test, result, error);
  if (status != MOTE_OK) return status;
  if (index >= ids) return MOTE_OK;
  int32_t id;
  status = mote_sample(session, 0, &id, error);
  if (status != MOTE_OK) return status;
  result->equal_ids += id == test.expected_ids()->Get(index);
  return index + 1 == ids ? MOTE_OK : begin_ids(session, test.expected_ids()->data() + index, 1, error);
}

/// Takes the results of a run that is done, and begins the next one where there is one.
mote_status go_on(mote_session* session, const file::SelfTest& test, mote_self_test* result,
                  mote_error* error) {
  const uint32_t length = session->lengths[0], prompt = test.ids()->size();
  if (session->model->encoder) return compare(mote_session_output(session, 0), test, result, error);
  const bool rows = tests_rows(session, test);
  if (length < prompt && rows) return begin_row(session, test, length, error);
  if (length < prompt) return begin_ids(session, test.ids()->data() + length, prompt - length, error);
  return rows ? compare(mote_session_logits(session, 0), test, result, error)
              : take_logits(session, test, result, error);
}

mote_status begin_first(mote_session* session, const file::SelfTest& test, mote_error* error) {
  uint32_t length = test.ids()->size();
  const uint32_t first = 0;
  if (session->model->encoder) {
    const mote_batch batch = tested_batch(session, test, &length, &first);
    return mote_encode_begin(session, &batch, error);
  }
  if (tests_rows(session, test)) return begin_row(session, test, 0, error);
  const mote_sampling greedy = mote_sampling_default();
  const mote_status status = mote_sample_begin(session, &greedy, error);
  if (status != MOTE_OK) return status;
  end_run(session);
  if (session->programs[0].sources == 0) return begin_ids(session, test.ids()->data(), length, error);
  const mote_batch source = tested_source(session, test, &length);
  return mote_encode_begin(session, &source, error);
}

}  // namespace
}  // namespace mote

using mote::fail;

extern "C" {

mote_status mote_self_test_begin(mote_session* session, mote_self_test* result, mote_error* error) {
  const mote::file::SelfTest* const test = session->model->root->self_test();
  const mote_status status = mote::begin_self_test(session, test, result, error);
  return status != MOTE_OK ? status : mote::begin_first(session, *test, error);
}

mote_status mote_self_test_step(mote_session* session, mote_self_test* result, uint32_t max_ops, int* done,
                                mote_error* error) {
  const mote::file::SelfTest* test = session->model->root->self_test();
  if (done == nullptr || result == nullptr || test == nullptr)
    return fail(error, MOTE_INVALID_ARGUMENT, "null pointer, or a file without a self test");
  *done = 0;
  do {
    if (!session->run.active) return fail(error, MOTE_WRONG_STATE, "another call has ended this self test");
    if (!mote::continue_run(session, max_ops)) return MOTE_OK;
    const mote_status status = mote::go_on(session, *test, result, error);
    if (status != MOTE_OK) return status;
  } while (session->run.active && max_ops == 0);
  if (session->run.active) return MOTE_OK;
  *done = 1;
  return mote::end_self_test(session, *result, error);
}

}  // extern "C"
