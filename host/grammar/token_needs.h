// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host/grammar/compile.h"
#include "host/grammar/machine.h"
#include "host/grammar/vocabulary.h"

namespace mote::grammar {

/// Replaces needs in bytes by the fewest tokens that write the same endings. A token ends with its rule at
/// the latest, so the sum over a stack may be more than needed, never less. Texts that the vocabulary cannot
/// write keep their bytes.
void count_tokens(Machine& machine, const VocabularyTrie& vocabulary, Allowance& allowance);

}  // namespace mote::grammar
