// SPDX-License-Identifier: Apache-2.0
//
// Filters that work on numbers, and default.
#include <math.h>

#include <array>
#include <map>

#include "host/chat/jinja/arguments.h"
#include "host/chat/jinja/filters.h"
#include "host/chat/jinja/literals.h"
#include "host/chat/jinja/members.h"
#include "host/chat/jinja/operators.h"

namespace mote::convert::jinja {
namespace {

/// int(number); none where Python raises what the filter int catches.
std::optional<Value> truncated(double number) {
  if (!isfinite(number)) return std::nullopt;
  if (fabs(number) >= 9.2e18) unsupported("an integer of more than 64 bits");
  return make_int(static_cast<int64_t>(number));
}

Value int_filter(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("int", arguments, {"default", "base"});
  const Value otherwise = bound.has(0) ? bound.at(0) : make_int(0);
  if (value.is<Undefined>()) refuse_undefined(value);
  std::optional<Value> result;
  if (const Text* text = value.text()) {
    result = parse_int(text->bytes, bound.whole(1, 10));
    if (!result) {
      const std::optional<double> real = parse_float(text->bytes);
      if (real) result = truncated(*real);
    }
  } else if (const auto* real = value.as<double>()) {
    if (isinf(*real)) refuse("cannot convert float infinity to integer");
    result = truncated(*real);
  } else if (is_number(value)) {
    result = make_int(to_int(value, "int"));
  }
  return result ? *result : otherwise;
}

Value float_filter(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("float", arguments, {"default"});
  if (value.is<Undefined>()) refuse_undefined(value);
  if (is_number(value)) return make_float(to_double(value, "float"));
  std::optional<double> number;
  if (const Text* text = value.text()) number = parse_float(text->bytes);
  if (number) return make_float(*number);
  return bound.has(0) ? bound.at(0) : make_float(0.0);
}

Value abs_filter(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("abs", arguments, {});
  if (value.is<Undefined>()) refuse_undefined(value);
  if (!is_number(value)) refuse("bad operand type for abs(): '{}'", type_name(value));
  if (const auto* real = value.as<double>()) return make_float(fabs(*real));
  const int64_t whole = to_int(value, "abs");
  return whole < 0 ? sign("-", value) : make_int(whole);
}

/// The nearest number with so many digits after the point, as Python finds it: through its decimal text.
double rounded(double value, int64_t digits) {
  if (!isfinite(value) || digits > 300) return value;
  if (digits < 0) {
    if (digits < -300) return copysign(0.0, value);
    unsupported("round to tens of a float");
  }
  std::array<char, 1024> buffer;
  snprintf(buffer.data(), buffer.size(), "%.*f", static_cast<int>(digits), value);
  return strtod(buffer.data(), nullptr);
}

Value round_filter(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("round", arguments, {"precision", "method"});
  if (value.is<Undefined>()) refuse_undefined(value);
  if (!is_number(value)) refuse("type {} doesn't define __round__ method", type_name(value));
  const int64_t digits = bound.whole(0, 0);
  const std::string method = bound.has(1) ? bound.text(1) : "common";
  if (method != "common" && method != "ceil" && method != "floor")
    refuse("method must be common, ceil or floor");
  if (method == "common") {
    if (const auto* real = value.as<double>()) return make_float(rounded(*real, digits));
    if (digits < 0) unsupported("round to tens of an integer");
    return make_int(to_int(value, "round"));
  }
  const Value scale = arithmetic("**", make_int(10), make_int(digits));
  const double scaled = to_double(arithmetic("*", value, scale), "round");
  if (!(fabs(scaled) < 9e15)) unsupported("round of a large number");
  const double whole = method == "ceil" ? ceil(scaled) : floor(scaled);
  return make_float(whole / to_double(scale, "round"));
}

Value default_filter(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("default", arguments, {"default_value", "boolean"});
  const bool use = value.is<Undefined>() || (bound.flag(1, false) && !truthy(value));
  if (!use) return value;
  return bound.has(0) ? bound.at(0) : make_text("");
}

Value attr(Renderer&, const Value& value, const Arguments& arguments) {
  const Bound bound("attr", arguments, {"name"}, 1);
  return get_own_attribute(value, bound.text(0));
}

}  // namespace

Filter find_number_filter(const std::string& name) {
  static const std::map<std::string, Filter> filters = {
      {"int", int_filter},         {"float", float_filter}, {"abs", abs_filter}, {"round", round_filter},
      {"default", default_filter}, {"d", default_filter},   {"attr", attr},
  };
  const auto found = filters.find(name);
  return found == filters.end() ? nullptr : found->second;
}

}  // namespace mote::convert::jinja
