// SPDX-License-Identifier: Apache-2.0
#include "host/chat/jinja/operators.h"

#include <math.h>

#include <algorithm>

#include "host/base/work_budget.h"
#include "host/chat/jinja/format.h"
#include "host/chat/jinja/print.h"
#include "host/chat/jinja/text_search.h"
#include "host/chat/jinja/unicode.h"

namespace mote::convert::jinja {
namespace {

[[noreturn]] void refuse_operands(std::string_view op, const Value& a, const Value& b) {
  if (a.is<Undefined>()) refuse_undefined(a);
  if (b.is<Undefined>()) refuse_undefined(b);
  refuse("unsupported operand types for {}: '{}' and '{}'", op, type_name(a), type_name(b));
}

[[noreturn]] void too_large() { unsupported("an integer of more than 64 bits"); }

bool same_kind(const Sequence& a, const Sequence& b) { return a.kind == b.kind; }

bool equal_texts(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  charge_work(a.size() / kTextStep);
  return a == b;
}

bool equal_items(const Sequence& a, const Sequence& b) {
  return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), equal);
}

bool equal_sequences(const Sequence& a, const Sequence& b) {
  if (&a == &b) return true;
  if (!same_kind(a, b) || a.kind == SequenceKind::iterator) return false;
  if (a.kind == SequenceKind::view) unsupported("comparing {} with {}", a.shown, b.shown);
  return equal_items(a, b);
}

bool equal_dicts(const Dict& a, const Dict& b) {
  return &a == &b || (a.items.size() == b.items.size() &&
                      std::all_of(a.items.begin(), a.items.end(), [&](const auto& item) {
                        const Value* other = b.find(item.first);
                        return other != nullptr && equal(item.second, *other);
                      }));
}

bool whole(const Value& value) { return value.is<bool>() || value.is<int64_t>(); }

int64_t int_of(const Value& value) { return to_int(value, "operand"); }

/// Exact also where an integer has more bits than a double.
int order_numbers(const Value& a, const Value& b, bool* unordered) {
  *unordered = false;
  if (whole(a) && whole(b)) return int_of(a) < int_of(b) ? -1 : int_of(a) > int_of(b) ? 1 : 0;
  const long double x = whole(a) ? static_cast<long double>(int_of(a)) : *a.as<double>();
  const long double y = whole(b) ? static_cast<long double>(int_of(b)) : *b.as<double>();
  *unordered = isnan(x) || isnan(y);
  return x < y ? -1 : x > y ? 1 : 0;
}

int64_t floor_div(int64_t a, int64_t b) {
  if (a == INT64_MIN && b == -1) too_large();
  const int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

int64_t floor_mod(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Value power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) refuse("0 cannot be raised to a negative power");
    return make_float(pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  int64_t result = 1;
  if (base == 0 || base == 1) return make_int(exponent == 0 ? 1 : base);
  if (base == -1) return make_int(exponent % 2 == 0 ? 1 : -1);
  for (int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) too_large();
  }
  return make_int(result);
}

Value whole_arithmetic(const std::string& op, int64_t a, int64_t b) {
  int64_t result = 0;
  if (op == "+" && __builtin_add_overflow(a, b, &result)) too_large();
  if (op == "-" && __builtin_sub_overflow(a, b, &result)) too_large();
  if (op == "*" && __builtin_mul_overflow(a, b, &result)) too_large();
  if (op == "**") return power(a, b);
  const bool divides = op == "/" || op == "//" || op == "%";
  if (divides && b == 0) refuse("division by zero");
  if (op == "/") {
    constexpr int64_t kExact = int64_t{1} << 53;
    if (a > kExact || a < -kExact || b > kExact || b < -kExact) too_large();
    return make_float(static_cast<double>(a) / static_cast<double>(b));
  }
  if (op == "//") result = floor_div(a, b);
  if (op == "%") result = floor_mod(a, b);
  return make_int(result);
}

Value float_arithmetic(const std::string& op, double a, double b) {
  if (op == "+") return make_float(a + b);
  if (op == "-") return make_float(a - b);
  if (op == "*") return make_float(a * b);
  if (op == "**") {
    if (a < 0 && b != floor(b)) unsupported("a complex number");
    if (a == 0 && b < 0) refuse("0.0 cannot be raised to a negative power");
    const double result = pow(a, b);
    if (isinf(result) && isfinite(a) && isfinite(b)) refuse("the result of ** is too large");
    return make_float(result);
  }
  if (b == 0) refuse("division by zero");
  if (op == "/") return make_float(a / b);
  double rest = fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  if (op == "%") return make_float(rest == 0 ? copysign(0.0, b) : rest);
  const double quotient = (a - rest) / b;
  if (quotient == 0) return make_float(copysign(0.0, a / b));
  const double floored = floor(quotient);
  return make_float(quotient - floored > 0.5 ? floored + 1.0 : floored);
}

/// A text, list or tuple, `count` times.
Value repeat(const Value& value, int64_t count) {
  const auto times = static_cast<uint64_t>(std::max<int64_t>(count, 0));
  if (const Text* text = value.text()) {
    if (!text->bytes.empty() && times > kMostBytes) require_bytes(times);
    require_bytes(times * text->bytes.size());
    std::string all;
    for (uint64_t i = 0; i < times && !text->bytes.empty(); ++i) all += text->bytes;
    return make_text(std::move(all), text->markup);
  }
  const Sequence& sequence = *value.sequence();
  const uint64_t weight = extent_of(value).weight;
  if (!sequence.items.empty() && (times > kMostWeight || times * weight > kMostWeight)) {
    unsupported("a list of more than {} values", kMostWeight);
  }
  std::vector<Value> items;
  for (uint64_t i = 0; i < times && !sequence.items.empty(); ++i) {
    items.insert(items.end(), sequence.items.begin(), sequence.items.end());
  }
  return make_sequence(std::move(items), sequence.kind);
}

bool repeats(const Value& value) {
  const Sequence* sequence = value.sequence();
  return value.is<TextRef>() || (sequence != nullptr && (sequence->kind == SequenceKind::list ||
                                                         sequence->kind == SequenceKind::tuple));
}

Value add(const Value& a, const Value& b) {
  const Text* left = a.text();
  const Text* right = b.text();
  if (left != nullptr && right != nullptr) {
    require_bytes(left->bytes.size() + right->bytes.size());
    if (left->markup == right->markup) return make_text(left->bytes + right->bytes, left->markup);
    return make_text((left->markup ? left->bytes : escape(left->bytes)) +
                         (right->markup ? right->bytes : escape(right->bytes)),
                     true);
  }
  const Sequence* x = a.sequence();
  const Sequence* y = b.sequence();
  const bool lists = x != nullptr && y != nullptr && same_kind(*x, *y) &&
                     (x->kind == SequenceKind::list || x->kind == SequenceKind::tuple);
  if (!lists) refuse_operands("+", a, b);
  std::vector<Value> items = x->items;
  items.insert(items.end(), y->items.begin(), y->items.end());
  return make_sequence(std::move(items), x->kind);
}

/// Places in a sequence as Python clamps them.
struct Bounds {
  int64_t begin, end, step;
};

Bounds clamp_bounds(int64_t size, const Value& begin, const Value& end, const Value& step) {
  const int64_t by = step.is<None>() ? 1 : to_int(step, "a slice's step");
  if (by == 0) refuse("a slice's step cannot be zero");
  const int64_t least = by < 0 ? -1 : 0, most = by < 0 ? size - 1 : size;
  const auto place = [&](const Value& value, int64_t otherwise) {
    if (value.is<None>()) return otherwise;
    int64_t at = to_int(value, "a slice's bound");
    if (at < 0) at = at < -size ? -1 : at + size;
    return std::clamp(at, least, most);
  };
  return {place(begin, by < 0 ? most : least), place(end, by < 0 ? least : most), by};
}

template <class Items, class Out>
void take_slice(const Items& items, const Bounds& bounds, Out& out) {
  const auto size = static_cast<int64_t>(items.size());
  for (int64_t at = bounds.begin; bounds.step > 0 ? at < bounds.end : at > bounds.end;) {
    out.push_back(items[static_cast<size_t>(at)]);
    if (bounds.step >= size || bounds.step <= -size) break;
    at += bounds.step;
  }
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  charge_work(1);
  if (is_number(a) && is_number(b)) {
    bool unordered = false;
    return order_numbers(a, b, &unordered) == 0 && !unordered;
  }
  if (a.data.index() != b.data.index()) return false;
  if (a.is<Undefined>() || a.is<None>()) return true;
  if (const Text* text = a.text()) return equal_texts(text->bytes, b.text()->bytes);
  if (const Sequence* sequence = a.sequence()) return equal_sequences(*sequence, *b.sequence());
  if (const Dict* dict = a.dict()) return equal_dicts(*dict, *b.dict());
  if (const auto* space = a.as<Space*>()) return *space == *b.as<Space*>();
  unsupported("comparing {} with {}", type_name(a), type_name(b));
}

bool less(const Value& a, const Value& b) {
  charge_work(1);
  if (is_number(a) && is_number(b)) {
    bool unordered = false;
    return order_numbers(a, b, &unordered) < 0 && !unordered;
  }
  if (a.is<TextRef>() && b.is<TextRef>()) {
    charge_work(std::min(a.text()->bytes.size(), b.text()->bytes.size()) / kTextStep);
    return a.text()->bytes < b.text()->bytes;
  }
  const Sequence* x = a.sequence();
  const Sequence* y = b.sequence();
  if (x == nullptr || y == nullptr || !same_kind(*x, *y) ||
      (x->kind != SequenceKind::list && x->kind != SequenceKind::tuple)) {
    refuse_operands("<", a, b);
  }
  const auto [first, second] =
      std::mismatch(x->items.begin(), x->items.end(), y->items.begin(), y->items.end(), equal);
  if (first == x->items.end() || second == y->items.end()) return second != y->items.end();
  return less(*first, *second);
}

bool contains(const Value& container, const Value& item) {
  if (const Text* text = container.text()) {
    const Text* part = item.text();
    if (part == nullptr) refuse("'in <string>' requires a string, not {}", type_name(item));
    return TextSearch(part->bytes).first(text->bytes) != std::string::npos;
  }
  if (const Dict* dict = container.dict()) {
    require_hashable(item);
    return dict->find(item) != nullptr;
  }
  if (container.is<LoopRef>() || !is_iterable(container)) {
    refuse("argument of type '{}' is not iterable", type_name(container));
  }
  const std::vector<Value> items = items_of(container);
  return std::any_of(items.begin(), items.end(), [&](const Value& value) { return equal(value, item); });
}

bool compare(const std::string& op, const Value& a, const Value& b) {
  if (op == "==") return equal(a, b);
  if (op == "!=") return !equal(a, b);
  if (op == "in") return contains(b, a);
  if (op == "not in") return !contains(b, a);
  if (op == "<") return less(a, b);
  if (op == ">") return less(b, a);
  return less(op == "<=" ? a : b, op == "<=" ? b : a) || equal(a, b);
}

Value arithmetic(const std::string& op, const Value& a, const Value& b) {
  if (whole(a) && whole(b)) return whole_arithmetic(op, int_of(a), int_of(b));
  if (is_number(a) && is_number(b)) {
    return float_arithmetic(op, to_double(a, "operand"), to_double(b, "operand"));
  }
  if (op == "+") return add(a, b);
  if (op == "*" && repeats(a) && whole(b)) return repeat(a, int_of(b));
  if (op == "*" && whole(a) && repeats(b)) return repeat(b, int_of(a));
  if (op == "%" && a.is<TextRef>()) return format_percent(*a.text(), b);
  refuse_operands(op, a, b);
}

Value sign(const std::string& op, const Value& value) {
  if (value.is<Undefined>()) refuse_undefined(value);
  if (const auto* number = value.as<double>()) return make_float(op == "-" ? -*number : *number);
  if (!whole(value)) refuse("bad operand type for unary {}: '{}'", op, type_name(value));
  const int64_t number = int_of(value);
  if (op == "-" && number == INT64_MIN) too_large();
  return make_int(op == "-" ? -number : number);
}

Value slice(const Value& value, const Value& begin, const Value& end, const Value& step) {
  if (value.is<Undefined>()) refuse_undefined(value);
  if (const Text* text = value.text()) {
    const std::u32string all = characters(text->bytes);
    std::u32string part;
    take_slice(all, clamp_bounds(static_cast<int64_t>(all.size()), begin, end, step), part);
    return make_text(from_characters(part), text->markup);
  }
  const Sequence* sequence = value.sequence();
  if (sequence != nullptr && sequence->kind == SequenceKind::range) unsupported("a slice of a range");
  if (sequence == nullptr ||
      (sequence->kind != SequenceKind::list && sequence->kind != SequenceKind::tuple)) {
    refuse("'{}' object cannot be sliced", type_name(value));
  }
  std::vector<Value> part;
  take_slice(sequence->items, clamp_bounds(static_cast<int64_t>(sequence->items.size()), begin, end, step),
             part);
  return make_sequence(std::move(part), sequence->kind);
}

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&#34;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  require_bytes(out.size());
  return out;
}

Value escaped(const Value& value) {
  const Text* text = value.text();
  if (text != nullptr && text->markup) return value;
  return make_text(escape(to_text(value)), true);
}

}  // namespace mote::convert::jinja
