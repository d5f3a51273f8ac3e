// SPDX-License-Identifier: Apache-2.0
//
// What the readers of schemas, expressions and grammars make: rules of sequences, choices, repeats and
// characters. compile.h makes tables of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/grammar/code_points.h"

namespace mote::grammar {

struct Node;
using NodePtr = std::shared_ptr<const Node>;

inline constexpr uint32_t kEndless = UINT32_MAX;

/// A transition of a graph.
struct Arrow {
  uint32_t from, to;
  NodePtr over;  // null: nothing is written
};

struct Node {
  enum class Kind {
    bytes,       // `text`
    characters,  // one of `set`, in UTF-8
    sequence,    // all `parts`
    choice,      // one of `parts`; without parts nothing can be written, not even an empty text
    repeat,      // parts[0], `least` to `most` times
    rule,        // rule number `rule`
    graph,       // any way along `arrows` from place 0 to place 1 of `places`
    free  // any bytes in which none of `texts` is, up to text i and then parts[i], and so on; ends where
          // `least` is 0
  };
  Kind kind = Kind::bytes;
  std::string text;
  CodePoints set;
  std::vector<NodePtr> parts;
  uint32_t least = 0, most = 0, rule = 0, places = 0;
  std::vector<Arrow> arrows;
  std::vector<std::string> texts;
  bool again = false;  // free: behind a part it is free again, else the answer ends
};

struct Rule {
  std::string name;  // in sentences
  NodePtr body;
};

struct Source {
  std::vector<Rule> rules;
  uint32_t start = 0;
};

NodePtr bytes(std::string text);
NodePtr characters(CodePoints set);
NodePtr sequence(std::vector<NodePtr> parts);
NodePtr choice(std::vector<NodePtr> parts);
NodePtr repeat(NodePtr part, uint32_t least, uint32_t most);
inline NodePtr optional(NodePtr part) { return repeat(std::move(part), 0, 1); }
NodePtr rule(uint32_t number);
NodePtr graph(uint32_t places, std::vector<Arrow> arrows);
/// Returns a node that nothing is written for.
inline NodePtr nothing() { return bytes(""); }
/// Returns a node that cannot be written.
inline NodePtr never() { return choice({}); }

}  // namespace mote::grammar
