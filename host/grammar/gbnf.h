// SPDX-License-Identifier: Apache-2.0
//
// Grammars in llama.cpp's notation (grammars/README.md there): rules `name ::= ...` of texts in quotes,
// classes of characters, names, groups, alternatives, ? * + {m,n} and comments. The rule "root" is the
// answer.
#pragma once

#include <string_view>

#include "host/grammar/source.h"

namespace mote::grammar {

/// Throws Error, which names line and column.
Source gbnf_source(std::string_view text);

}  // namespace mote::grammar
