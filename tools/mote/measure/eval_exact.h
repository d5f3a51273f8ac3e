// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/mote/session.h"

namespace mote::cli {

/// How many of a file's questions the model answers exactly.
struct ExactScore {
  uint64_t questions = 0, equal = 0;
  double accuracy() const {
    return questions == 0 ? 0.0 : static_cast<double>(equal) / static_cast<double>(questions);
  }
};

/// Each line of `path` is a question, a tab and the answer. Answers greedily in the model's chat format, or
/// by continuing the question where it has none; white space around answers does not count. `limit` 0: all
/// lines. Throws convert::Error.
ExactScore score_exact(const ModelFile& file, Session& session, const std::string& path, uint64_t limit);

}  // namespace mote::cli
