// SPDX-License-Identifier: Apache-2.0
//
// What tests of streams of rows share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/support/graph_file.h"
#include "tests/support/test_model.h"

namespace test {

/// Sequences of these lengths of a program that takes floats, one behind the other.
inline mote_status encode_rows(mote_session* session, const std::vector<uint32_t>& lengths,
                               const std::vector<float>& rows, mote_error* error) {
  mote_batch batch{};
  batch.lengths = lengths.data();
  batch.count = static_cast<uint32_t>(lengths.size());
  batch.values = rows.data();
  return mote_encode(session, &batch, error);
}

/// What opening says of the graph's file after a change to stream `index`.
inline std::string stream_refusal(const mote::convert::Graph& graph, uint32_t index,
                                  const std::function<void(mote::file::Stream*)>& change) {
  mote_error error{};
  const mote_status status = open_changed(graph, &error, [&](mote::file::Model* root) {
    change(root->mutable_programs()->GetMutableObject(0)->mutable_streams()->GetMutableObject(index));
  });
  TEST_ASSERT_EQUAL_INT(MOTE_CORRUPT_FILE, status);
  return error.text;
}

}  // namespace test
