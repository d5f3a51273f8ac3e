// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/test_model.h"

namespace test {

/// Rows of two prompts and of a single token, the last of a third, in one call have the bits of each alone:
/// alone(ids) gives the logits of the last of ids. `sequences`: of the prompts and of the token.
template <class Alone>
void check_mixed_rows(mote_session* session, uint32_t vocab, const uint32_t (&sequences)[3],
                      const Alone& alone) {
  const auto single = some_ids(200, vocab), longer = some_ids(30, vocab, 2), shorter = some_ids(7, vocab, 3);
  prefill(session, {single.begin(), single.end() - 1}, vocab, sequences[2]);
  std::vector<mote_row> rows;
  for (uint32_t i = 0; i < longer.size(); ++i) {
    rows.push_back({sequences[0], longer[i], 0, i + 1 == longer.size()});
    if (i < shorter.size()) rows.push_back({sequences[1], shorter[i], 0, i + 1 == shorter.size()});
  }
  rows.push_back({sequences[2], single.back(), 0, 1});
  mote_rows call{};
  call.rows = rows.data();
  call.count = static_cast<uint32_t>(rows.size());
  mote_error error{};
  const mote_status status = mote_compute(session, &call, &error);
  INFO(error.text);
  REQUIRE(status == MOTE_OK);
  TEST_ASSERT_TRUE(logits_of(session, vocab, 0) == alone(shorter));
  TEST_ASSERT_TRUE(logits_of(session, vocab, 1) == alone(longer));
  TEST_ASSERT_TRUE(logits_of(session, vocab, 2) == alone(single));
}

}  // namespace test
