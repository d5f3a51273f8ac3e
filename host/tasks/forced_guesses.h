// SPDX-License-Identifier: Apache-2.0
//
// Guesses of text that a grammar forces, such as the names of keys and what stands between values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/tasks/model.h"
#include "host/tasks/session.h"
#include "mote/grammar.h"

namespace mote::host {

class ForcedGuesses {
 public:
  /// Takes up the text of a token that was reported.
  void said(std::string_view text);
  /// Returns the tokens that the answer goes on with as far as the grammar leaves no choice, as the tokenizer
  /// splits the text that they continue.
  Result<std::vector<int32_t>> next(const Model& model, const Session& session,
                                    const mote_matcher& matcher) const;

 private:
  std::string before_;  // the end of the answer, from the begin of a token on
};

}  // namespace mote::host
