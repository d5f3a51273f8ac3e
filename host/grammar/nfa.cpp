// SPDX-License-Identifier: Apache-2.0
#include "host/grammar/nfa.h"

#include <algorithm>

#include "host/base/error.h"

namespace mote::grammar {
namespace {

constexpr uint64_t kWrittenOut = 64;  // states that a repeat may take instead of a counter

}  // namespace

NfaBuilder::NfaBuilder(const Source& source, Allowance& allowance)
    : source_(source), allowance_(allowance), empty_(source.rules.size()) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < source.rules.size(); ++i) {
      if (empty_[i] || !may_be_empty(*source.rules[i].body)) continue;
      empty_[i] = changed = true;
    }
  }
}

bool NfaBuilder::may_be_empty(const Node& node) const {
  allowance_.work(4);
  const auto empty = [&](const NodePtr& part) { return may_be_empty(*part); };
  switch (node.kind) {
    case Node::Kind::bytes:
      return node.text.empty();
    case Node::Kind::characters:
      return false;
    case Node::Kind::sequence:
      return std::all_of(node.parts.begin(), node.parts.end(), empty);
    case Node::Kind::choice:
      return std::any_of(node.parts.begin(), node.parts.end(), empty);
    case Node::Kind::repeat:
      return node.least == 0 || empty(node.parts[0]);
    case Node::Kind::rule:
      return empty_[node.rule];
    case Node::Kind::free:
      return node.least == 0;
    case Node::Kind::graph:
      break;
  }
  std::vector<bool> reached(node.places);
  std::vector<uint32_t> open = {0};
  reached[0] = true;
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    for (const Arrow& arrow : node.arrows) {
      if (arrow.from != at || reached[arrow.to] || (arrow.over != nullptr && !may_be_empty(*arrow.over)))
        continue;
      reached[arrow.to] = true;
      open.push_back(arrow.to);
    }
    allowance_.work(node.arrows.size());
  }
  return reached[1];
}

uint32_t NfaBuilder::state() {
  allowance_.work(16);
  if (nfa_.states.size() >= 8 * uint64_t{allowance_.limits().states} + 64)
    convert::fail("the grammar takes more than {} states", allowance_.limits().states);
  nfa_.states.emplace_back();
  return static_cast<uint32_t>(nfa_.states.size() - 1);
}

Nfa NfaBuilder::build(const NodePtr& body) {
  nfa_ = {};
  nfa_.start = state();
  nfa_.end = add(*body, nfa_.start);
  return std::move(nfa_);
}

uint64_t NfaBuilder::size_of(const Node& node) {
  const auto known = sizes_.find(&node);
  if (known != sizes_.end()) return known->second;
  allowance_.work(16);
  uint64_t size = 1;
  switch (node.kind) {
    case Node::Kind::bytes:
      size = node.text.size();
      break;
    case Node::Kind::characters:
      for (const ByteRow& row : utf8_rows(node.set)) size += row.length;
      break;
    case Node::Kind::sequence:
    case Node::Kind::choice:
      for (const NodePtr& part : node.parts) size += size_of(*part);
      break;
    case Node::Kind::repeat: {
      const uint64_t copies = node.most == kEndless ? node.least + uint64_t{1} : node.most;
      const uint64_t one = size_of(*node.parts[0]);
      size += copies != 0 && one > kWrittenOut / copies ? 1 : copies * one;
      break;
    }
    case Node::Kind::graph:
      for (const Arrow& arrow : node.arrows) size += arrow.over == nullptr ? 1 : 1 + size_of(*arrow.over);
      break;
    case Node::Kind::rule:
    case Node::Kind::free:
      break;
  }
  sizes_[&node] = std::min<uint64_t>(size, 1u << 30);
  return sizes_[&node];
}

uint32_t NfaBuilder::counted_rule(const Node& repeat) {
  const auto [found, added] = counted_by_node_.try_emplace(&repeat, 0);
  if (!added) return found->second;
  const bool empty = may_be_empty(*repeat.parts[0]);
  found->second = static_cast<uint32_t>(source_.rules.size() + counted_.size());
  counted_.push_back({repeat.parts[0], empty ? 0 : repeat.least, repeat.most});
  return found->second;
}

uint32_t NfaBuilder::add_repeat(const Node& node, uint32_t from) {
  const NodePtr& part = node.parts[0];
  const uint64_t one = std::max<uint64_t>(1, size_of(*part));
  const bool endless = node.most == kEndless;
  const uint64_t copies = endless ? node.least : node.most;
  const bool written_out = copies <= 1 || copies <= kWrittenOut / one;
  if (!written_out) {
    const uint32_t to = state();
    nfa_.states[from].calls.push_back({counted_rule(node), to});
    if (node.least == 0 || may_be_empty(*part)) silent(from, to);
    return to;
  }
  for (uint32_t i = 0; i < node.least; ++i) from = add(*part, from);
  if (endless) {
    const uint32_t loop = state();
    silent(from, loop);
    const uint32_t back = add(*part, loop);
    silent(back, loop);
    const uint32_t to = state();
    silent(loop, to);
    return to;
  }
  const uint32_t to = state();
  for (uint32_t i = node.least; i < node.most; ++i) {
    silent(from, to);
    const uint32_t begin = state();
    silent(from, begin);
    from = add(*part, begin);
  }
  silent(from, to);
  return to;
}

uint32_t NfaBuilder::add(const Node& node, uint32_t from) {
  switch (node.kind) {
    case Node::Kind::bytes:
      for (const char c : node.text) {
        const uint32_t to = state(), byte = static_cast<uint8_t>(c);
        nfa_.states[from].edges.push_back({byte, byte, to});
        from = to;
      }
      return from;
    case Node::Kind::characters: {
      const uint32_t to = state();
      for (const ByteRow& row : utf8_rows(node.set)) {
        uint32_t at = from;
        for (uint32_t i = 0; i < row.length; ++i) {
          const uint32_t next = i + 1 == row.length ? to : state();
          nfa_.states[at].edges.push_back({row.bytes[i].first, row.bytes[i].last, next});
          at = next;
        }
      }
      return to;
    }
    case Node::Kind::sequence:
      for (const NodePtr& part : node.parts) from = add(*part, from);
      return from;
    case Node::Kind::choice: {
      const uint32_t to = state();
      for (const NodePtr& part : node.parts) {
        const uint32_t begin = state();
        silent(from, begin);
        silent(add(*part, begin), to);
      }
      return to;
    }
    case Node::Kind::repeat:
      return add_repeat(node, from);
    case Node::Kind::rule: {
      const uint32_t to = state();
      nfa_.states[from].calls.push_back({node.rule, to});
      if (empty_[node.rule]) silent(from, to);
      return to;
    }
    case Node::Kind::graph: {
      std::vector<uint32_t> places;
      for (uint32_t i = 0; i < node.places; ++i) places.push_back(state());
      silent(from, places[0]);
      for (const Arrow& arrow : node.arrows) {
        const uint32_t begin = state();
        silent(places[arrow.from], begin);
        silent(arrow.over == nullptr ? begin : add(*arrow.over, begin), places[arrow.to]);
      }
      return places[1];
    }
    case Node::Kind::free:
      break;
  }
  convert::fail("free text inside of a rule");
}

}  // namespace mote::grammar
