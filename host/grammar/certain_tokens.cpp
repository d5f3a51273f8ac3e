// SPDX-License-Identifier: Apache-2.0
#include "host/grammar/certain_tokens.h"

#include <algorithm>

namespace mote::grammar {

void LeftTokens::sort() {
  std::sort(tokens.begin(), tokens.end(), [&](const Token& a, const Token& b) {
    const int less = std::string_view(texts)
                         .substr(a.offset, a.bytes)
                         .compare(std::string_view(texts).substr(b.offset, b.bytes));
    return less != 0 ? less < 0 : a.id < b.id;
  });
}

LeftTokens& CertainTokens::left(uint32_t state, bool in_call) {
  for (LeftTokens& one : left_) {
    if (one.state == state && one.in_call == in_call) return one;
  }
  left_.push_back({state, in_call, {}, {}});
  return left_.back();
}

size_t CertainTokens::left_count() const {
  size_t count = 0;
  for (const LeftTokens& one : left_) count += one.tokens.size();
  return count;
}

bool CertainTokens::is_out(const HomeWalk::Token& token) const {
  if (token.counts > base_->most) return true;
  return std::any_of(base_->holes.begin(), base_->holes.end(),
                     [&](const auto& hole) { return token.step >= hole.first && token.step < hole.second; });
}

uint32_t Endings::of(uint32_t number) {
  if (numbers_[number] != 0) return numbers_[number];
  std::vector<uint32_t> path;
  uint32_t at = number, behind = 0;
  for (;;) {
    if (numbers_[at] != 0) {
      behind = numbers_[at];
      break;
    }
    path.push_back(at);
    const MachineState& state = machine_.states[at];
    if (state.accepts) break;
    if (state.step_calls) {
      at = state.calls[state.step].back;
      if (at == kTail) break;
    } else {
      const uint32_t byte = state.free ? state.advance : state.step;
      const auto edge = std::find_if(state.edges.begin(), state.edges.end(), [&](const MachineEdge& one) {
        return byte >= one.first && byte <= one.last;
      });
      at = edge->target;
    }
  }
  for (; !path.empty(); path.pop_back()) {
    const MachineState& state = machine_.states[path.back()];
    const uint32_t how = state.accepts ? 0 : state.step_calls ? 1 : 2;
    const uint32_t by = how == 0     ? 0
                        : how == 1   ? state.calls[state.step].rule
                        : state.free ? state.advance
                                     : state.step;
    const bool tail = how == 1 && state.calls[state.step].back == kTail;
    const std::array<uint32_t, 4> key = {state.rule, tail ? 3 : how, by, how == 0 || tail ? 0 : behind};
    behind = known_.try_emplace(key, static_cast<uint32_t>(known_.size() + 1)).first->second;
    numbers_[path.back()] = behind;
  }
  return behind;
}

void CertainTokens::finish(Endings& endings) {
  struct Ended {
    uint32_t state;
    std::vector<uint32_t> ids;
  };
  std::map<std::pair<uint32_t, bool>, Ended> by_ending;
  const auto ids_of = [&](uint32_t state, bool in_call) -> std::vector<uint32_t>& {
    return by_ending.try_emplace({endings.of(state), in_call}, Ended{state, {}}).first->second.ids;
  };
  if (base_) {
    groups_.push_back({base_->states[0], base_->in_call, {}});
    for (const uint32_t number : base_->walk->elsewhere) {
      const HomeWalk::Token& token = base_->walk->tokens[number];
      if (!is_out(token)) ids_of(base_->states[token.place], base_->in_call).push_back(token.id);
    }
    if (!base_->in_call && base_->counted && !base_->walk->by_counts.empty())
      most_counts_ = base_->walk->by_counts.rbegin()->first;
  }
  std::vector<uint32_t>* ids = nullptr;
  const CertainToken* before = nullptr;
  for (const CertainToken& token : tokens_) {
    if (before == nullptr || before->state != token.state || before->in_call != token.in_call)
      ids = &ids_of(token.state, token.in_call);
    ids->push_back(token.id);
    before = &token;
    if (!token.in_call) most_counts_ = std::max(most_counts_, token.counts);
  }
  if (!base_ && !by_ending.empty()) {
    const auto main = std::max_element(by_ending.begin(), by_ending.end(), [](const auto& a, const auto& b) {
      return a.second.ids.size() < b.second.ids.size();
    });
    groups_.push_back({main->second.state, main->first.second, {}});
  }
  for (auto& [ending, ended] : by_ending) {
    if (ending != std::pair(endings.of(groups_[0].state), groups_[0].in_call))
      groups_.push_back({ended.state, ending.second, std::move(ended.ids)});
  }
}

std::vector<uint32_t> CertainTokens::bits() const {
  std::vector<uint32_t> bits(words_);
  if (base_) {
    bits = base_->walk->bits;
    const auto& tokens = base_->walk->tokens;
    const auto clear = [&](uint32_t id) { bits[id / 32] &= ~(1u << id % 32); };
    for (const auto& [begin, end] : base_->holes) {
      auto token =
          std::lower_bound(tokens.begin(), tokens.end(), begin,
                           [](const HomeWalk::Token& one, uint32_t step) { return one.step < step; });
      for (; token != tokens.end() && token->step < end; ++token) clear(token->id);
    }
    for (auto counts = base_->walk->by_counts.upper_bound(base_->most);
         counts != base_->walk->by_counts.end(); ++counts) {
      for (const uint32_t id : counts->second) clear(id);
    }
  }
  for (const CertainToken& token : tokens_) bits[token.id / 32] |= 1u << token.id % 32;
  return bits;
}

std::map<uint32_t, CertainTokens::Counted> CertainTokens::by_counts() const {
  std::map<uint32_t, Counted> ids;
  if (count() == 0) return ids;
  if (base_ && (base_->in_call || !base_->counted)) ids[0];
  if (base_ && !base_->in_call && base_->counted) {
    for (const auto& [counts, of_counts] : base_->walk->by_counts) ids[counts].base = &of_counts;
    if (!base_->holes.empty()) {
      for (auto& [counts, of_counts] : ids) of_counts.base = nullptr;
      for (const HomeWalk::Token& token : base_->walk->tokens) {
        if (!is_out(token)) ids[token.counts].ids.push_back(token.id);
      }
    }
  }
  for (const CertainToken& token : tokens_) {
    Counted& of_counts = ids[token.in_call ? 0 : token.counts];
    if (token.counts != 0 && !token.in_call) of_counts.ids.push_back(token.id);
  }
  return ids;
}

}  // namespace mote::grammar
