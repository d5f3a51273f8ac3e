// SPDX-License-Identifier: Apache-2.0
#include "runtime/grammar/readings.h"

namespace mote {
namespace {

uint32_t saturated(uint64_t need) { return need < kMaxNeed ? static_cast<uint32_t>(need) : kMaxNeed; }

bool is_end(const GrammarState& state) {
  return state.flags == kStateAccepts && state.edge_count == 0 && state.call_count == 0;
}

}  // namespace

uint32_t Readings::own_need(const Reading& reading) const {
  const GrammarState& state = grammar_.states[reading.state];
  const GrammarRule& rule = grammar_.rules[state.rule];
  // A state that is no head is inside of a count, which its own need ends.
  const uint64_t counted =
      uint64_t{reading.count} +
      ((state.flags & (kStateHead | kStateAccepts)) == (kStateHead | kStateAccepts) ? 0 : 1);
  const uint64_t missing = rule.least > counted ? rule.least - counted : 0;
  return saturated(state.need + missing * rule.unit);
}

uint32_t Readings::need(const Reading& reading) const {
  const uint32_t rest = reading.frame == kNoFrame ? 0 : frames_[reading.frame].rest;
  return saturated(uint64_t{own_need(reading)} + rest);
}

bool Readings::call(const Reading& from, const GrammarCall& call, Reading* called) {
  const GrammarRule& rule = grammar_.rules[call.rule];
  if (call.back == 0) {
    *called = {rule.entry, from.frame, 0};
    return fits(*called);
  }
  const Reading back = entered(call.back, from.frame, from.count);
  const uint32_t depth = depth_of(from.frame) + 1;
  if (depth + grammar_.states[rule.entry].depth > grammar_.header->depth || !fits(back)) return false;
  if (count_ == capacity_) {
    overflowed_ = true;
    return false;
  }
  frames_[count_] = {call.back, from.frame, from.count, need(back) & kMaxNeed, depth & 0xFF};
  *called = {rule.entry, static_cast<uint16_t>(count_), 0};
  ++count_;
  return true;
}

uint16_t Readings::target_of(const GrammarState& state, uint8_t byte) const {
  if ((state.flags & kStateDense) != 0) return grammar_.rows[state.edges][byte];
  const GrammarEdge* const edges = grammar_.edges + state.edges;
  for (uint32_t i = 0; i < state.edge_count; ++i) {
    if (byte >= edges[i].first && byte <= edges[i].last) return edges[i].target;
  }
  return 0;
}

bool Readings::step_plainly(const Reading& reading, uint8_t byte, Reading* next) const {
  const GrammarState& state = grammar_.states[reading.state];
  if (state.call_count != 0 || (state.flags & (kStateHead | kStateFree)) != 0 ||
      ((state.flags & kStateAccepts) != 0 && reading.frame != kNoFrame))
    return false;
  uint16_t target = 0;
  if ((state.flags & kStateDense) != 0) {
    target = grammar_.rows[state.edges][byte];
  } else {
    const GrammarEdge* const edges = grammar_.edges + state.edges;
    for (uint32_t i = 0; i < state.edge_count && edges[i].first <= byte; ++i) {
      if (byte > edges[i].last) continue;
      if (target != 0) return false;
      target = edges[i].target;
    }
  }
  *next = {target, reading.frame, reading.count};
  if (target == 0) return true;
  const GrammarState& to = grammar_.states[target];
  return (to.flags & kStateHead) == 0 && !is_end(to) && fits(*next);
}

uint32_t Readings::add(Reading reading, Reading* out, uint32_t count, uint32_t capacity) {
  if (!fits(reading)) return count;
  // Where nothing can follow in the rule, the call is over.
  while (reading.frame != kNoFrame && is_end(grammar_.states[reading.state])) reading = returned(reading);
  for (uint32_t i = 0; i < count; ++i) {
    if (out[i].state == reading.state && out[i].frame == reading.frame && out[i].count == reading.count)
      return count;
  }
  if (count == capacity) {
    overflowed_ = true;
    return count;
  }
  out[count] = reading;
  return count + 1;
}

uint32_t Readings::step(Reading reading, uint8_t byte, Reading* out, uint32_t count, uint32_t capacity) {
  for (;;) {
    const GrammarState& state = grammar_.states[reading.state];
    if ((state.flags & kStateFree) != 0 && forced_ && byte != state.step) return count;
    if (may_go_on(reading)) {
      if ((state.flags & kStateDense) != 0) {
        const uint16_t target = grammar_.rows[state.edges][byte];
        if (target != 0) count = add(entered(target, reading.frame, reading.count), out, count, capacity);
      } else {
        const GrammarEdge* const edges = grammar_.edges + state.edges;
        for (uint32_t i = 0; i < state.edge_count; ++i) {
          if (byte < edges[i].first || byte > edges[i].last) continue;
          count = add(entered(edges[i].target, reading.frame, reading.count), out, count, capacity);
        }
      }
      for (uint32_t i = 0; i < state.call_count; ++i) {
        const GrammarCall& edge = grammar_.calls[state.calls + i];
        if (!has_byte(grammar_.rules[edge.rule].starts, byte)) continue;
        Reading called;
        const uint32_t before = count_;
        if (!call(reading, edge, &called)) continue;
        const uint32_t found = step(called, byte, out, count, capacity);
        if (found == count) count_ = before;
        count = found;
      }
    }
    if (!accepts(reading) || reading.frame == kNoFrame) return count;
    reading = returned(reading);
  }
}

uint32_t Readings::keep_shortest(Reading* readings, uint32_t count) const {
  while (count > kMostReadings) {
    uint32_t longest = 0;
    for (uint32_t i = 1; i < count; ++i) {
      if (need(readings[i]) >= need(readings[longest])) longest = i;
    }
    --count;
    for (uint32_t i = longest; i < count; ++i) readings[i] = readings[i + 1];
  }
  return count;
}

bool Readings::is_whole(Reading reading) const {
  while (accepts(reading)) {
    if (reading.frame == kNoFrame) return true;
    reading = returned(reading);
  }
  return false;
}

void Readings::next_bytes(Reading reading, uint32_t* set) const {
  for (;;) {
    const GrammarState& state = grammar_.states[reading.state];
    if (may_go_on(reading)) {
      if ((state.flags & kStateFree) != 0 && forced_) {
        set[state.step / 32 % 8] |= uint32_t{1} << state.step % 32;
      } else {
        if ((state.flags & kStateDense) != 0) {
          const uint16_t* const row = grammar_.rows[state.edges];
          for (uint32_t word = 0; word < 8; ++word) {
            uint32_t bits = 0;
            for (uint32_t bit = 0; bit < 32; ++bit)
              bits |= (row[32 * word + bit] != 0 ? uint32_t{1} : 0) << bit;
            set[word] |= bits;
          }
        } else {
          const GrammarEdge* const edges = grammar_.edges + state.edges;
          for (uint32_t i = 0; i < state.edge_count; ++i) {
            for (uint32_t byte = edges[i].first; byte <= edges[i].last; ++byte)
              set[byte / 32] |= uint32_t{1} << byte % 32;
          }
        }
      }
      for (uint32_t i = 0; i < state.call_count; ++i) {
        const GrammarRule& rule = grammar_.rules[grammar_.calls[state.calls + i].rule];
        for (uint32_t word = 0; word < 8; ++word) set[word] |= rule.starts[word];
      }
    }
    if (!accepts(reading) || reading.frame == kNoFrame) return;
    reading = returned(reading);
  }
}

void Readings::compact(Reading* readings, uint32_t count, uint32_t from) {
  // Frames that are kept are marked by their depth's place: parents lie before children, so one pass marks.
  uint8_t kept[(UINT16_MAX + 1) / 8 / 64];
  static_assert(sizeof kept * 8 >= 1024);
  if (count_ > sizeof kept * 8) return;
  for (uint8_t& byte : kept) byte = 0;
  const auto mark = [&](uint16_t frame) {
    if (frame != kNoFrame && frame >= from)
      kept[frame / 8] = static_cast<uint8_t>(kept[frame / 8] | 1 << frame % 8);
  };
  for (uint32_t i = 0; i < count; ++i) mark(readings[i].frame);
  for (uint32_t i = count_; i-- > from;) {
    if ((kept[i / 8] >> i % 8 & 1) != 0) mark(frames_[i].parent);
  }
  uint32_t to = from;
  for (uint32_t i = from; i < count_; ++i) {
    if ((kept[i / 8] >> i % 8 & 1) == 0) continue;
    if (to != i) {
      frames_[to] = frames_[i];
      for (uint32_t child = i + 1; child < count_; ++child) {
        if (frames_[child].parent == i) frames_[child].parent = static_cast<uint16_t>(to);
      }
      for (uint32_t r = 0; r < count; ++r) {
        if (readings[r].frame == i) readings[r].frame = static_cast<uint16_t>(to);
      }
    }
    ++to;
  }
  count_ = to;
}

}  // namespace mote
