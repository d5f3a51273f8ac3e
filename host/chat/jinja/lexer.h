// SPDX-License-Identifier: Apache-2.0
//
// A template's text to tokens, as Jinja's lexer with trim_blocks and lstrip_blocks: the line break after a
// block is dropped, and so is white space before a block on its line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/chat/jinja/value.h"

namespace mote::convert::jinja {

enum class TokenKind : uint8_t {
  data,
  variable_begin,
  variable_end,
  block_begin,
  block_end,
  name,
  text,
  number,
  op,
  end
};

struct Token {
  TokenKind kind;
  std::string text = {};  // data, a name, an operator, what a string literal says
  Value value = {};       // of a number
  uint32_t line = 1;
};

/// The last token is `end`. Throws Refusal where Jinja finds no tokens.
std::vector<Token> tokenize(std::string_view source);

}  // namespace mote::convert::jinja
