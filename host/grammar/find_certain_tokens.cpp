// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "host/grammar/certain_tokens.h"

namespace mote::grammar {
namespace {

constexpr size_t kMostPlaces = 64;      // of a home
constexpr uint32_t kLeastSpliced = 64;  // steps that are taken out of a home's walk

}  // namespace

CertainTokenFinder::CertainTokenFinder(const Machine& machine, const VocabularyTrie& vocabulary,
                                       CertainSteps& steps, Allowance& allowance)
    : machine_(machine),
      vocabulary_(vocabulary),
      steps_(steps),
      allowance_(allowance),
      path_(kMaxTokenBytes + 1),
      found_(0) {}

CertainTokens CertainTokenFinder::of(uint32_t state, uint16_t call) {
  start_ = state;
  call_ = call;
  found_ = CertainTokens((vocabulary_.header->vocab + 31) / 32);
  path_[0] = {state, 0, false};
  if (!walk_whole()) walk_range(0, vocabulary_.header->steps);
  return std::move(found_);
}

/// Returns the home of a state that leads to itself; null: none, or one of too many states.
const CertainTokenFinder::KnownHome* CertainTokenFinder::home_of(uint32_t number) {
  const auto [at, added] = homes_.try_emplace(number);
  std::optional<KnownHome>& known = at->second;
  if (!added) return known ? &*known : nullptr;
  const CertainSteps::Row& own = steps_.of(number);
  if (std::find(own.begin(), own.end(), number) == own.end()) return nullptr;
  KnownHome made;
  made.states = {number};
  std::map<uint32_t, uint16_t> places = {{number, uint16_t{0}}};
  for (size_t i = 0; i < made.states.size(); ++i) {
    const CertainSteps::Row& row = steps_.of(made.states[i]);
    Home::Place& place = made.home.places.emplace_back();
    place.head = machine_.states[made.states[i]].head;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      place.next[byte] = Home::kAway;
      const uint32_t to = row[byte];
      if (to == 0 || to == kTail || !steps_.is_together(number, to)) continue;
      const auto [found, fresh] = places.try_emplace(to, static_cast<uint16_t>(made.states.size()));
      if (fresh) made.states.push_back(to);
      place.next[byte] = found->second;
    }
    if (made.states.size() > kMostPlaces) return nullptr;
    allowance_.work(512);
  }
  made.home.counted = machine_.rules[machine_.states[number].rule].counted;
  made.walk = vocabulary_.walks->of(made.home, vocabulary_);
  known = std::move(made);
  return &*known;
}

/// Returns the state of the called rule behind the first byte; 0: this is not the only reading.
uint32_t CertainTokenFinder::step_in_call(uint32_t byte) {
  const MachineState& from = machine_.states[start_];
  if (call_ == 0 || (from.accepts && steps_.follows(from.rule, byte))) return 0;
  for (const MachineEdge& edge : from.edges) {
    if (byte >= edge.first && byte <= edge.last) return 0;
  }
  for (uint32_t i = 0; i < from.calls.size(); ++i) {
    const uint32_t* const starts = machine_.rules[from.calls[i].rule].starts;
    if (((starts[byte / 32] >> byte % 32 & 1) != 0) != (i + 1 == call_)) return 0;
  }
  const uint32_t to = steps_.of(machine_.rules[from.calls[call_ - 1u].rule].entry)[byte];
  return to == kTail ? 0 : to;
}

/// Returns the state behind a first byte, as CertainSteps, and whether it is in the call.
std::pair<uint32_t, bool> CertainTokenFinder::first_step(uint32_t byte) {
  const uint32_t to = steps_.of(start_)[byte];
  if (to != kTail) return {to, false};
  const uint32_t inside = step_in_call(byte);
  return inside == 0 ? std::pair(to, false) : std::pair(inside, true);
}

/// Takes the walk of the home that most first bytes lead to, where there is one; returns whether there is.
bool CertainTokenFinder::walk_whole() {
  std::pair<uint32_t, bool> firsts[256];
  std::map<std::pair<uint32_t, bool>, uint64_t> weights;
  const uint32_t* const roots = vocabulary_.roots;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    firsts[byte] = first_step(byte);
    if (firsts[byte].first != 0 && firsts[byte].first != kTail)
      weights[firsts[byte]] += roots[byte + 1] - roots[byte];
  }
  const auto main = std::max_element(weights.begin(), weights.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (main == weights.end() || main->second * 8 < vocabulary_.header->steps) return false;
  const bool in_call = main->first.second;
  const KnownHome* const home = home_of(main->first.first);
  if (home == nullptr) return false;
  const auto is_home = [&](uint32_t byte) {
    const uint16_t next = home->home.places[0].next[byte];
    return next != Home::kAway && firsts[byte] == std::pair(home->states[next], in_call);
  };
  uint64_t gained = 0, lost = 0;
  CertainTokens::Base base = {home->walk, home->states, in_call, home->home.counted, UINT32_MAX, {}};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const uint32_t begin = roots[byte], end = roots[byte + 1];
    if (begin == end || home->home.places[0].next[byte] == Home::kAway) continue;
    (is_home(byte) ? gained : lost) += end - begin;
    if (!is_home(byte)) base.holes.push_back({begin, end});
  }
  if (gained < lost) return false;
  const MachineRule& rule = machine_.rules[machine_.states[home->states[0]].rule];
  if (in_call && rule.counted) base.most = rule.most;
  found_.set_base(std::move(base));
  auto exit = home->walk->exits.begin();
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const uint32_t begin = roots[byte], end = roots[byte + 1];
    if (begin == end) continue;
    while (exit != home->walk->exits.end() && exit->step < begin) ++exit;
    if (!is_home(byte)) {
      walk_range(begin, end);
      continue;
    }
    for (; exit != home->walk->exits.end() && exit->step < end; ++exit)
      leave(*home, *exit, exit->counts, in_call);
  }
  return true;
}

/// Returns whether a called rule's count lets an answer be at the state; in other rules that is not known.
bool CertainTokenFinder::may_end_in(const At& at) const {
  const MachineState& state = machine_.states[at.state];
  const MachineRule& rule = machine_.rules[state.rule];
  return !at.in_call || !rule.counted || at.counts + (state.head ? 0 : 1) <= rule.most;
}

void CertainTokenFinder::leave(const KnownHome& home, const HomeWalk::Exit& exit, uint32_t counts,
                               bool in_call) {
  const At above = {home.states[exit.place], counts, in_call};
  allowance_.work(4);
  const TrieStep& step = vocabulary_.steps[exit.step];
  if (steps_.of(above.state)[step.byte] == 0 || !may_end_in(above)) return;
  // The bytes above are not those of the path.
  const bool splices = splices_;
  splices_ = false;
  path_[step.depth - 1] = above;
  walk_range(exit.step, exit.step + step.size);
  splices_ = splices;
}

/// Takes the tokens below a step, behind whose byte the answer is, out of the walk of the state's home.
bool CertainTokenFinder::splice(uint32_t number, const At& at) {
  const TrieStep& step = vocabulary_.steps[number];
  const KnownHome* const home = home_of(at.state);
  if (home == nullptr) return false;
  uint16_t place = 0;
  uint32_t counts = 0;
  for (uint32_t depth = 1; depth <= step.depth; ++depth) {
    place = home->home.places[place].next[bytes_[depth]];
    if (place == Home::kAway) return false;
    counts += home->home.places[place].head ? 1 : 0;
  }
  if (place != 0) return false;
  const uint32_t end = number + step.size, more = at.counts - counts;  // modulo 2^32
  const auto& tokens = home->walk->tokens;
  const MachineRule& rule = machine_.rules[machine_.states[at.state].rule];
  auto token = std::lower_bound(tokens.begin(), tokens.end(), number,
                                [](const HomeWalk::Token& one, uint32_t from) { return one.step < from; });
  for (; token != tokens.end() && token->step < end; ++token) {
    const uint32_t taken = token->counts + more;
    if (at.in_call && rule.counted && taken > rule.most) continue;
    found_.add({token->id, at.in_call ? 0 : taken, home->states[token->place], at.in_call});
  }
  const auto& exits = home->walk->exits;
  auto exit = std::lower_bound(exits.begin(), exits.end(), number,
                               [](const HomeWalk::Exit& one, uint32_t from) { return one.step < from; });
  walked_ += step.size / 4;
  allowance_.work(step.size / 4);
  for (; exit != exits.end() && exit->step < end; ++exit)
    leave(*home, *exit, exit->counts + more, at.in_call);
  return true;
}

/// Walks over steps whose path above is known.
void CertainTokenFinder::walk_range(uint32_t begin, uint32_t end) {
  allowance_.work(end - begin);
  for (uint32_t i = begin; i < end;) {
    const TrieStep& step = vocabulary_.steps[i];
    const At above = path_[step.depth - 1];
    bytes_[step.depth] = static_cast<uint8_t>(step.byte);
    uint32_t to = steps_.of(above.state)[step.byte];
    bool in_call = above.in_call;
    ++walked_;
    if (to == kTail && step.depth == 1) {
      const auto [inside, is_inside] = first_step(step.byte);
      to = inside;
      in_call = is_inside;
    }
    if (to == 0) {
      i += step.size;
      continue;
    }
    if (to == kTail) {
      add_left(i, above);
      i += step.size;
      continue;
    }
    const MachineState& state = machine_.states[to];
    const At at = {to, above.counts + (state.head ? 1 : 0), in_call};
    path_[step.depth] = at;
    if (!may_end_in(at)) {
      i += step.size;
      continue;
    }
    if (splices_ && step.size >= kLeastSpliced && splice(i, at)) {
      i += step.size;
      continue;
    }
    if (step.value != kNoTrieValue) {
      const bool counted = machine_.rules[state.rule].counted;
      found_.add({step.value, in_call ? 0 : at.counts + (counted && !state.head ? 1 : 0), to, in_call});
    }
    ++i;
  }
}

/// Adds the tokens at and below a step by their bytes from it on.
void CertainTokenFinder::add_left(uint32_t top, const At& above) {
  // In a call the count begins at 0, so what it forbids is known.
  const MachineRule& rule = machine_.rules[machine_.states[above.state].rule];
  if (above.in_call && rule.counted && above.counts < rule.least) return;
  LeftTokens& left = found_.left(above.state, above.in_call);
  char text[kMaxTokenBytes];
  const uint32_t first = vocabulary_.steps[top].depth;
  for (uint32_t i = top; i < top + vocabulary_.steps[top].size; ++i) {
    const TrieStep& step = vocabulary_.steps[i];
    text[step.depth - first] = static_cast<char>(step.byte);
    allowance_.work(8);
    if (step.value == kNoTrieValue) continue;
    const uint32_t bytes = step.depth - first + 1;
    left.tokens.push_back({static_cast<uint32_t>(left.texts.size()), bytes, step.value, above.counts});
    left.texts.append(text, bytes);
  }
}

}  // namespace mote::grammar
