// SPDX-License-Identifier: Apache-2.0
//
// Expressions as automata over code points, which can be combined before they become bytes.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "host/base/error.h"
#include "host/grammar/expression.h"

namespace mote::grammar {
namespace {

struct PointNfa {
  struct State {
    std::vector<std::pair<uint32_t, uint8_t>> silent;  // and what it asks for: kAnywhere, kAtBegin, kAtEnd
    std::vector<std::pair<const CodePoints*, uint32_t>> steps;
  };
  std::vector<State> states;
};
enum Edge : uint8_t { kAnywhere, kAtBegin, kAtEnd };

class PointNfaBuilder {
 public:
  explicit PointNfaBuilder(Allowance& allowance) : allowance_(allowance) {}

  uint32_t state() {
    allowance_.work(32);
    if (nfa.states.size() >= 8 * uint64_t{allowance_.limits().states})
      convert::fail("an expression takes more than {} states", 8 * uint64_t{allowance_.limits().states});
    nfa.states.emplace_back();
    return static_cast<uint32_t>(nfa.states.size() - 1);
  }
  void silent(uint32_t from, uint32_t to, Edge edge = kAnywhere) {
    nfa.states[from].silent.push_back({to, edge});
  }

  uint32_t add(const Expression& expression, uint32_t from) {
    switch (expression.kind) {
      case Expression::Kind::characters: {
        const uint32_t to = state();
        nfa.states[from].steps.push_back({&expression.set, to});
        return to;
      }
      case Expression::Kind::sequence:
        for (const ExpressionPtr& part : expression.parts) from = add(*part, from);
        return from;
      case Expression::Kind::choice: {
        const uint32_t to = state();
        for (const ExpressionPtr& part : expression.parts) {
          const uint32_t begin = state();
          silent(from, begin);
          silent(add(*part, begin), to);
        }
        return to;
      }
      case Expression::Kind::begin:
      case Expression::Kind::end: {
        const uint32_t to = state();
        silent(from, to, expression.kind == Expression::Kind::begin ? kAtBegin : kAtEnd);
        return to;
      }
      case Expression::Kind::repeat:
        break;
    }
    const Expression& part = *expression.parts[0];
    for (uint32_t i = 0; i < expression.least; ++i) from = add(part, from);
    if (expression.most == kEndless) {
      const uint32_t loop = state();
      silent(from, loop);
      silent(add(part, loop), loop);
      const uint32_t to = state();
      silent(loop, to);
      return to;
    }
    const uint32_t to = state();
    for (uint32_t i = expression.least; i < expression.most; ++i) {
      silent(from, to);
      const uint32_t begin = state();
      silent(from, begin);
      from = add(part, begin);
    }
    silent(from, to);
    return to;
  }

  PointNfa nfa;

 private:
  Allowance& allowance_;
};

using Set = std::vector<uint32_t>;

class PointSubsets {
 public:
  PointSubsets(const PointNfa& nfa, uint32_t end, Allowance& allowance)
      : nfa_(nfa), end_(end), allowance_(allowance), marks_(nfa.states.size()) {}

  TextDfa build(uint32_t start) {
    state_of(closure({start}, kAtBegin));
    for (uint32_t i = 0; i < sets_.size(); ++i) expand(i);
    return std::move(dfa_);
  }

 private:
  /// Follows silent steps; of those that ask for an end of the text the ones of that end alone.
  Set closure(const Set& from, Edge edge) {
    ++mark_;
    Set open = from, all;
    while (!open.empty()) {
      const uint32_t at = open.back();
      open.pop_back();
      if (marks_[at] == mark_) continue;
      marks_[at] = mark_;
      allowance_.work(4);
      all.push_back(at);
      for (const auto& [to, asks] : nfa_.states[at].silent) {
        if (asks == kAnywhere || asks == edge) open.push_back(to);
      }
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  uint32_t state_of(const Set& set) {
    const auto [found, added] = known_.try_emplace(set, static_cast<uint32_t>(sets_.size()));
    if (!added) return found->second;
    if (sets_.size() >= allowance_.limits().states)
      convert::fail("an expression takes more than {} states", allowance_.limits().states);
    sets_.push_back(set);
    dfa_.states.emplace_back();
    // At the begin of an empty text it is at both ends.
    Set ended = closure(set, kAtEnd);
    if (sets_.size() == 1) {
      for (size_t before = 0; before != ended.size();) {
        before = ended.size();
        ended = closure(closure(ended, kAtBegin), kAtEnd);
      }
    }
    dfa_.states.back().accepts = std::binary_search(ended.begin(), ended.end(), end_);
    return found->second;
  }
  void expand(uint32_t number) {
    const Set set = sets_[number];
    std::vector<uint32_t> cuts;
    std::vector<std::pair<const CodePoints*, uint32_t>> steps;
    for (const uint32_t at : set)
      steps.insert(steps.end(), nfa_.states[at].steps.begin(), nfa_.states[at].steps.end());
    for (const auto& [points, to] : steps) {
      for (const Range& range : points->ranges()) {
        cuts.push_back(range.first);
        cuts.push_back(range.last + 1);
      }
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    allowance_.work(cuts.size() * (steps.size() + 8));
    std::map<uint32_t, std::vector<Range>> by_target;
    std::map<Set, uint32_t> closed;
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      Set to;
      for (const auto& [points, target] : steps) {
        if (points->has(cuts[i])) to.push_back(target);
      }
      if (to.empty()) continue;
      const auto [found, added] = closed.try_emplace(to, 0);
      if (added) found->second = state_of(closure(to, kAnywhere));
      by_target[found->second].push_back({cuts[i], cuts[i + 1] - 1});
    }
    for (auto& [target, ranges] : by_target) {
      CodePoints points(std::move(ranges));
      if (!points.empty()) dfa_.states[number].edges.push_back({std::move(points), target});
    }
  }

  const PointNfa& nfa_;
  uint32_t end_;
  Allowance& allowance_;
  std::vector<uint32_t> marks_;
  uint32_t mark_ = 0;
  std::vector<Set> sets_;
  std::map<Set, uint32_t> known_;
  TextDfa dfa_;
};

/// Returns whether something accepted can be reached from each state.
std::vector<bool> live_states(const TextDfa& dfa) {
  std::vector<std::vector<uint32_t>> before(dfa.states.size());
  std::vector<bool> live(dfa.states.size());
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < dfa.states.size(); ++i) {
    for (const TextDfa::Edge& edge : dfa.states[i].edges) before[edge.target].push_back(i);
    if (!dfa.states[i].accepts) continue;
    live[i] = true;
    open.push_back(i);
  }
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    for (const uint32_t from : before[at]) {
      if (live[from]) continue;
      live[from] = true;
      open.push_back(from);
    }
  }
  return live;
}

}  // namespace

bool TextDfa::matches(std::string_view text) const {
  uint32_t at = 0;
  for (const uint32_t point : code_points_of(text, "a text")) {
    const auto& edges = states[at].edges;
    const auto edge =
        std::find_if(edges.begin(), edges.end(), [&](const Edge& one) { return one.set.has(point); });
    if (edge == edges.end()) return false;
    at = edge->target;
  }
  return states[at].accepts;
}

TextDfa expression_dfa(const ExpressionPtr& expression, bool anywhere, Allowance& allowance) {
  PointNfaBuilder builder(allowance);
  static const CodePoints all = CodePoints::all();
  const uint32_t start = builder.state();
  uint32_t from = start;
  if (anywhere) {
    from = builder.state();
    const uint32_t before = builder.state();
    builder.silent(start, from);
    builder.silent(start, before);
    const uint32_t after = builder.state();
    builder.nfa.states[before].steps.push_back({&all, after});
    builder.silent(after, before);
    builder.silent(after, from);
  }
  uint32_t end = builder.add(*expression, from);
  if (anywhere) {
    const uint32_t rest = builder.state();
    builder.silent(end, rest);
    builder.nfa.states[rest].steps.push_back({&all, rest});
    end = rest;
  }
  return PointSubsets(builder.nfa, end, allowance).build(start);
}

TextDfa both(const TextDfa& a, const TextDfa& b, Allowance& allowance) {
  TextDfa product;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> known;
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  const auto state_of = [&](uint32_t x, uint32_t y) {
    const auto [found, added] = known.try_emplace({x, y}, static_cast<uint32_t>(pairs.size()));
    if (added) {
      allowance.work(64);
      if (pairs.size() >= allowance.limits().states)
        convert::fail("what several keywords say of a text takes more than {} states",
                      allowance.limits().states);
      pairs.push_back({x, y});
      product.states.emplace_back();
      product.states.back().accepts = a.states[x].accepts && b.states[y].accepts;
    }
    return found->second;
  };
  state_of(0, 0);
  for (uint32_t i = 0; i < pairs.size(); ++i) {
    for (const TextDfa::Edge& x : a.states[pairs[i].first].edges) {
      for (const TextDfa::Edge& y : b.states[pairs[i].second].edges) {
        allowance.work(8 + x.set.ranges().size() + y.set.ranges().size());
        CodePoints common = x.set & y.set;
        if (common.empty()) continue;
        const uint32_t to = state_of(x.target, y.target);
        product.states[i].edges.push_back({std::move(common), to});
      }
    }
  }
  return product;
}

TextDfa complement(const TextDfa& dfa) {
  TextDfa other = dfa;
  const auto dead = static_cast<uint32_t>(other.states.size());
  other.states.emplace_back();
  for (TextDfa::State& state : other.states) {
    state.accepts = !state.accepts;
    CodePoints known;
    for (const TextDfa::Edge& edge : state.edges) known = known | edge.set;
    CodePoints rest = known.complement();
    if (!rest.empty()) state.edges.push_back({std::move(rest), dead});
  }
  return other;
}

TextDfa texts_dfa(const std::vector<std::string>& texts, Allowance& allowance) {
  TextDfa dfa;
  dfa.states.emplace_back();
  std::vector<std::map<uint32_t, uint32_t>> next(1);
  for (const std::string& text : texts) {
    uint32_t at = 0;
    for (const uint32_t point : code_points_of(text, "a text")) {
      allowance.work(32);
      const auto [found, added] = next[at].try_emplace(point, static_cast<uint32_t>(next.size()));
      at = found->second;
      if (added) next.emplace_back();
    }
    dfa.states.resize(next.size());
    dfa.states[at].accepts = true;
  }
  for (uint32_t i = 0; i < next.size(); ++i) {
    for (const auto& [point, to] : next[i]) dfa.states[i].edges.push_back({CodePoints::of(point), to});
  }
  return dfa;
}

TextDfa length_dfa(uint32_t least, uint32_t most, Allowance& allowance) {
  TextDfa dfa;
  const uint32_t last = most == kEndless ? least : most;
  if (last >= allowance.limits().states)
    convert::fail("bounds of a length beside a pattern take more than {} states", allowance.limits().states);
  for (uint32_t i = 0; i <= last; ++i) {
    dfa.states.emplace_back();
    dfa.states.back().accepts = i >= least;
    if (i < last) dfa.states.back().edges.push_back({CodePoints::all(), i + 1});
  }
  if (most == kEndless) dfa.states.back().edges.push_back({CodePoints::all(), last});
  allowance.work(64 * uint64_t{last});
  return dfa;
}

bool is_empty(const TextDfa& dfa) { return !live_states(dfa)[0]; }

NodePtr node_of(const TextDfa& dfa, const std::function<NodePtr(const CodePoints&)>& write) {
  const std::vector<bool> live = live_states(dfa);
  if (!live[0]) return never();
  std::vector<Arrow> arrows;
  std::map<CodePoints, NodePtr> written;
  for (uint32_t i = 0; i < dfa.states.size(); ++i) {
    if (!live[i]) continue;
    const uint32_t from = i == 0 ? 0 : i + 1;  // place 1 is the end
    if (dfa.states[i].accepts) arrows.push_back({from, 1, nullptr});
    for (const TextDfa::Edge& edge : dfa.states[i].edges) {
      if (!live[edge.target]) continue;
      NodePtr& node = written[edge.set];
      if (node == nullptr) node = write(edge.set);
      arrows.push_back({from, edge.target == 0 ? 0 : edge.target + 1, node});
    }
  }
  return graph(static_cast<uint32_t>(dfa.states.size()) + 1, std::move(arrows));
}

}  // namespace mote::grammar
