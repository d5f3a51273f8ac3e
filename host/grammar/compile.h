// SPDX-License-Identifier: Apache-2.0
//
// Rules to tables (schema/grammar_formats.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/grammar/machine.h"
#include "host/grammar/source.h"
#include "host/grammar/vocabulary.h"

namespace mote::grammar {

struct CompileLimits {
  uint32_t depth = 32;      // frames of the stack
  uint32_t states = 65535;  // of all rules
  uint64_t bytes = 64u << 20;
  double seconds = 1;
};

/// Holds how far a compilation is from its limits. Throws Error, which names the limit that is hit.
class Allowance {
 public:
  explicit Allowance(const CompileLimits& limits);
  /// Counts steps of work, a few nanoseconds each, and looks at the clock now and then.
  void work(uint64_t steps);
  void state();
  /// Returns whether half of the time is over: what only makes answers faster is left out then.
  bool is_half_over() const;
  const CompileLimits& limits() const { return limits_; }

 private:
  CompileLimits limits_;
  uint64_t steps_ = 0, next_look_ = 0, states_ = 0, begin_ns_ = 0;
};

/// Makes the rules' automata, prunes what no answer passes, and finds shortest endings.
Machine build_machine(const Source& source, Allowance& allowance);

/// Returns the tables, 8-byte aligned by operator new; with a vocabulary, needs are tokens of it and wide
/// states have masks.
std::vector<uint8_t> compile(const Source& source, const VocabularyTrie* vocabulary,
                             const CompileLimits& limits = {});

}  // namespace mote::grammar
