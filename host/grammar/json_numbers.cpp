// SPDX-License-Identifier: Apache-2.0
//
// Numbers. Where nothing bounds them they may have an exponent; bounds compare digits, so numbers with bounds
// have none.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <tuple>

#include "host/base/error.h"
#include "host/grammar/json_writer.h"

namespace mote::grammar {
namespace {

constexpr uint32_t kMostMultiple = 1000;
constexpr int64_t kMostZeros = 400;  // that a number is written with
constexpr uint32_t kFreeZeros = 3;   // behind "0.", which are no significant digits

/// Builds an automaton from a start by asking for what follows.
template <class State>
TextDfa explored(const State& start, const std::function<std::optional<State>(const State&, uint32_t)>& next,
                 const std::function<bool(const State&)>& accepts, Allowance& allowance) {
  TextDfa dfa;
  std::map<State, uint32_t> known;
  std::vector<State> states;
  const auto number_of = [&](const State& state) {
    const auto [found, added] = known.try_emplace(state, static_cast<uint32_t>(states.size()));
    if (added) {
      states.push_back(state);
      dfa.states.emplace_back();
      dfa.states.back().accepts = accepts(state);
      allowance.work(64);
    }
    return found->second;
  };
  number_of(start);
  for (uint32_t i = 0; i < states.size(); ++i) {
    std::map<uint32_t, std::vector<Range>> targets;
    for (const char c : std::string(".0123456789")) {
      const auto point = static_cast<uint32_t>(c);
      const State from = states[i];
      const std::optional<State> to = next(from, point);
      if (to) targets[number_of(*to)].push_back({point, point});
    }
    for (auto& [target, ranges] : targets)
      dfa.states[i].edges.push_back({CodePoints(std::move(ranges)), target});
  }
  return dfa;
}

/// Accepts unsigned numbers that compare with a bound as asked for: digits, a point, digits.
TextDfa compared(const Decimal& bound, bool at_least, bool strict, Allowance& allowance) {
  const std::string whole = bound.whole(), fraction = bound.fraction();
  enum : uint32_t { kLess, kEqual, kMore };
  // Digits read, at most one more than the bound has; how they compare; whether the point was read.
  using State = std::tuple<uint32_t, uint32_t, bool>;
  const auto as_far = [&](const State& state) -> uint32_t {
    const auto [read, order, behind] = state;
    if (!behind && read != whole.size()) return read < whole.size() ? kLess : kMore;
    if (order != kEqual) return order;
    const bool rest = behind ? read < fraction.size() : !fraction.empty();
    return rest ? uint32_t{kLess} : uint32_t{kEqual};
  };
  return explored<State>(
      {0, kEqual, false},
      [&](const State& state, uint32_t point) -> std::optional<State> {
        auto [read, order, behind] = state;
        if (point == '.') {
          if (behind || read == 0) return std::nullopt;
          if (read != whole.size()) order = read < whole.size() ? kLess : kMore;
          return State{0, order, true};
        }
        const std::string& digits = behind ? fraction : whole;
        if (order == kEqual) {
          const char digit = read < digits.size() ? digits[read] : '0';
          const auto own = static_cast<char>(point);
          if (behind || read < digits.size()) order = own < digit ? kLess : own > digit ? kMore : kEqual;
        }
        read = std::min<uint32_t>(read + 1, static_cast<uint32_t>(digits.size()) + 1);
        if (behind && order != kEqual) read = 0;
        return State{read, order, behind};
      },
      [&](const State& state) {
        if (std::get<0>(state) == 0 && !std::get<2>(state)) return false;
        const uint32_t order = as_far(state);
        return order == kEqual ? !strict : (order == kMore) == at_least;
      },
      allowance);
}

/// Accepts unsigned integers that `multiple` divides.
TextDfa divided(uint32_t multiple, Allowance& allowance) {
  using State = std::tuple<uint32_t, bool>;
  return explored<State>(
      {0, false},
      [&](const State& state, uint32_t point) -> std::optional<State> {
        if (point == '.') return std::nullopt;
        return State{(std::get<0>(state) * 10 + (point - '0')) % multiple, true};
      },
      [](const State& state) { return std::get<1>(state) && std::get<0>(state) == 0; }, allowance);
}

/// Accepts unsigned numbers with a multiple of ten to a power: that many zeros at the end, or at most so many
/// decimals.
TextDfa of_power(int64_t exponent, Allowance& allowance) {
  using State = std::tuple<int64_t, bool, bool>;  // zeros or decimals, zero alone, behind the point
  return explored<State>(
      {0, true, false},
      [&](const State& state, uint32_t point) -> std::optional<State> {
        auto [count, zero, behind] = state;
        if (exponent < 0) {
          if (point == '.') return behind ? std::nullopt : std::optional<State>(State{0, false, true});
          if (!behind) return State{0, false, false};
          if (count == -exponent) return std::nullopt;
          return State{count + 1, false, true};
        }
        if (point == '.') return std::nullopt;
        zero = zero && point == '0';
        return State{point == '0' ? std::min(count + 1, exponent) : 0, zero, false};
      },
      [&](const State& state) {
        return exponent < 0 || std::get<1>(state) || std::get<0>(state) == exponent;
      },
      allowance);
}

}  // namespace

Decimal Decimal::of(const Json& number) {
  std::string text = number.dump();
  Decimal decimal;
  const size_t e = text.find_first_of("eE");
  if (e != std::string::npos) {
    decimal.exponent = std::stoll(text.substr(e + 1));
    text.resize(e);
  }
  decimal.negative = text[0] == '-';
  if (decimal.negative) text.erase(0, 1);
  const size_t point = text.find('.');
  if (point != std::string::npos) {
    decimal.exponent -= static_cast<int64_t>(text.size() - point - 1);
    text.erase(point, 1);
  }
  text.erase(0, std::min(text.find_first_not_of('0'), text.size()));
  while (!text.empty() && text.back() == '0') {
    text.pop_back();
    ++decimal.exponent;
  }
  decimal.digits = text;
  if (text.empty()) decimal = {};
  if (decimal.exponent > kMostZeros || decimal.exponent < -kMostZeros)
    convert::fail("the number {} is too long to be written out", number.dump());
  return decimal;
}

std::string Decimal::whole() const {
  if (digits.empty()) return "0";
  if (exponent >= 0) return digits + std::string(static_cast<size_t>(exponent), '0');
  const auto behind = static_cast<size_t>(-exponent);
  return digits.size() <= behind ? "0" : digits.substr(0, digits.size() - behind);
}

std::string Decimal::fraction() const {
  if (is_integer()) return "";
  const auto behind = static_cast<size_t>(-exponent);
  if (digits.size() >= behind) return digits.substr(digits.size() - behind);
  return std::string(behind - digits.size(), '0') + digits;
}

int Decimal::compare(const Decimal& other) const {
  if (negative != other.negative) return negative ? -1 : 1;
  const std::string a = whole(), b = other.whole();
  int order = a.size() != b.size() ? (a.size() < b.size() ? -1 : 1) : a.compare(b);
  if (order == 0) order = fraction().compare(other.fraction());
  return negative ? -order : order;
}

TextDfa JsonWriter::unsigned_syntax(bool integer) const {
  // Zeros before other digits behind a point; digits; where: 0 nothing read, 1 behind a leading zero, 2 in
  // the whole part, 3 behind the point, 4 in the fraction.
  using State = std::array<uint32_t, 3>;
  const uint32_t digits = options_.digits;
  return explored<State>(
      {0, 0, 0},
      [&](const State& state, uint32_t point) -> std::optional<State> {
        auto [zeros, count, where] = state;
        if (point == '.')
          return integer || where == 0 || where > 2 || (where == 2 && count == digits)
                     ? std::nullopt
                     : std::optional<State>(State{0, count, 3});
        if (where == 1) return std::nullopt;
        if (where == 0 && point == '0') return State{0, 0, 1};
        if (where >= 3 && count == 0 && point == '0' && zeros < kFreeZeros) return State{zeros + 1, 0, 4};
        if (count == digits) return std::nullopt;
        return State{where >= 3 && count == 0 ? zeros : 0, count + 1, where >= 3 ? 4u : 2u};
      },
      [](const State& state) { return state[2] == 1 || state[2] == 2 || state[2] == 4; }, allowance_);
}

TextDfa JsonWriter::number_dfa(const NumberBounds& bounds, bool negative) {
  Decimal zero;
  bool integer = bounds.integer;
  for (const Decimal& multiple : bounds.multiples) integer = integer || multiple.is_integer();
  TextDfa dfa = unsigned_syntax(integer);
  const auto keep = [&](const TextDfa& other) { dfa = both(dfa, other, allowance_); };
  const auto nothing_left = [&] {
    dfa = {};
    dfa.states.emplace_back();
  };
  // A negative number has its bounds the other way round.
  const std::optional<Decimal>& least = negative ? bounds.most : bounds.least;
  const std::optional<Decimal>& most = negative ? bounds.least : bounds.most;
  const bool above = negative ? bounds.below : bounds.above, below = negative ? bounds.above : bounds.below;
  if (negative) keep(compared(zero, true, true, allowance_));
  if (least && least->negative == negative) keep(compared(*least, true, above, allowance_));
  if (most && most->negative == negative) keep(compared(*most, false, below, allowance_));
  if (most && most->negative != negative && (negative || !most->digits.empty())) nothing_left();
  if (negative && most && most->digits.empty()) nothing_left();
  for (const Decimal& multiple : bounds.multiples) {
    if (multiple.digits == "1") {
      keep(of_power(multiple.exponent, allowance_));
      continue;
    }
    const std::string whole = multiple.whole();
    if (!multiple.is_integer() || whole.size() > 4 || std::stoul(whole) > kMostMultiple)
      convert::fail("only powers of ten and integers up to {} are kept", kMostMultiple);
    keep(divided(static_cast<uint32_t>(std::stoul(whole)), allowance_));
  }
  return dfa;
}

NodePtr JsonWriter::plain_number() const {
  // What is written is finite in double precision: a mantissa of several digits before its point has a
  // smaller exponent.
  const auto digits = [](char first, char last) {
    return characters(CodePoints({{static_cast<uint32_t>(first), static_cast<uint32_t>(last)}}));
  };
  const NodePtr digit = digits('0', '9');
  const NodePtr small = choice({repeat(digit, 1, 2), sequence({digits('0', '1'), digit, digit}),
                                sequence({bytes("2"), digits('0', '7'), digit})});
  const NodePtr large = choice(
      {small, sequence({bytes("2"), digits('8', '9'), digit}), sequence({bytes("30"), digits('0', '7')})});
  const NodePtr e = characters(CodePoints({{'e', 'e'}, {'E', 'E'}})), plus = optional(bytes("+"));
  const NodePtr negative = sequence({bytes("-"), repeat(digit, 1, 3)});
  const NodePtr decimals = options_.digits == 1
                               ? nothing()
                               : optional(sequence({bytes("."), repeat(digit, 1, options_.digits - 1)}));
  const auto written = [](const CodePoints& set) { return characters(set); };
  return sequence({optional(bytes("-")),
                   choice({sequence({node_of(unsigned_syntax(false), written),
                                     optional(sequence({e, choice({negative, sequence({plus, small})})}))}),
                           sequence({digit, decimals, e, plus, large})})});
}

NodePtr JsonWriter::number(const NumberBounds& bounds) {
  if (!bounds.integer && !bounds.least && !bounds.most && bounds.multiples.empty()) return plain_number();
  const auto written = [](const CodePoints& set) { return characters(set); };
  return choice({node_of(number_dfa(bounds, false), written),
                 sequence({bytes("-"), node_of(number_dfa(bounds, true), written)})});
}

}  // namespace mote::grammar
