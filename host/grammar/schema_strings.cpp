// SPDX-License-Identifier: Apache-2.0
#include "host/base/error.h"
#include "host/grammar/schema_reader.h"

namespace mote::grammar {
namespace {

struct Format {
  const char* name;
  const char* expression;
};

#define MONTH_DAY_30 "(0[469]|11)-(0[1-9]|[12][0-9]|30)"
#define MONTH_DAY_31 "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])"
#define LEAP_YEAR "([0-9][0-9](0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
#define COMMON_YEAR "(000[1-9]|00[1-9][0-9]|0[1-9][0-9][0-9]|[1-9][0-9][0-9][0-9])"
#define DATE \
  "(" COMMON_YEAR "-(" MONTH_DAY_30 "|" MONTH_DAY_31 "|02-(0[1-9]|1[0-9]|2[0-8]))|" LEAP_YEAR "-02-29)"
#define TIME "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
#define LABEL "[A-Za-z0-9]([A-Za-z0-9-]{0,60}[A-Za-z0-9])?"
#define HOSTNAME LABEL "(\\." LABEL "){0,3}"
#define BYTE "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
#define IPV4 BYTE "\\." BYTE "\\." BYTE "\\." BYTE
#define H16 "[0-9A-Fa-f]{1,4}"
#define URI_NAME "([A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f][0-9A-Fa-f])"
#define URI_CHARACTER "([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f][0-9A-Fa-f])"

// After RFC 3339, RFC 4122, RFC 2673, RFC 4291, RFC 1123, RFC 5321 and RFC 3986; each text is of the format,
// not each text of a format is among them: leap seconds, quoted local parts and literal addresses of mail are
// not.
constexpr Format kFormats[] = {
    {"date", DATE},
    {"time", TIME},
    {"date-time", DATE "T" TIME},
    {"duration",
     "P([0-9]{1,9}W|([0-9]{1,9}Y([0-9]{1,9}M([0-9]{1,9}D)?)?|[0-9]{1,9}M([0-9]{1,9}D)?|[0-9]{1,9}D)(T([0-9]{"
     "1,9}H([0-9]{1,9}M("
     "[0-9]{1,9}S)?)?|[0-9]{1,9}M([0-9]{1,9}S)?|[0-9]{1,9}S))?|T([0-9]{1,9}H([0-9]{1,9}M([0-9]{1,9}S)?)?|[0-"
     "9]{1,9}M([0-9]{1,9}S)?|[0-9]{1,9}S))"},
    {"uuid", "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"},
    {"ipv4", IPV4},
    {"ipv6",
     "(" H16 ":){7}" H16 "|(" H16 ":){1,7}:|(" H16 ":){1,6}:" H16 "|(" H16 ":){1,5}(:" H16 "){1,2}|(" H16
     ":){1,4}(:" H16 "){1,3}|(" H16 ":){1,3}(:" H16 "){1,4}|(" H16 ":){1,2}(:" H16 "){1,5}|" H16 ":(:" H16
     "){1,6}|:(:" H16 "){1,7}|::|(" H16 ":){6}" IPV4 "|::(" H16 ":){0,5}" IPV4},
    {"hostname", HOSTNAME},
    {"email", "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,20}(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,20}){0,2}@" HOSTNAME},
    {"uri", "[A-Za-z][A-Za-z0-9+.-]*:(//((" URI_NAME "|:)*@)?" URI_NAME "*(:[0-9]{1,5})?(/" URI_CHARACTER
            "*)*|/?(" URI_CHARACTER "+(/" URI_CHARACTER "*)*)?)(\\?(" URI_CHARACTER
            "|[/?])*)?(#(" URI_CHARACTER "|[/?])*)?"}};

}  // namespace

const TextDfa& SchemaReader::format(const std::string& name, const std::string& pointer) {
  const auto known = formats_.find(name);
  if (known != formats_.end()) return known->second;
  for (const Format& format : kFormats) {
    if (name == format.name)
      return formats_[name] = expression_dfa(parse_expression(format.expression), false, allowance_);
  }
  refuse_keyword("format", pointer, "the format " + Json(name).dump() + " is not known");
}

const TextDfa& SchemaReader::pattern(const std::string& text, const std::string& pointer) {
  const auto known = patterns_.find(text);
  if (known != patterns_.end()) return known->second;
  try {
    return patterns_[text] = expression_dfa(parse_expression(text), true, allowance_);
  } catch (const convert::Error& error) {
    convert::fail("\"pattern\" at {}: {}", pointer.empty() ? "/" : pointer, error.what());
  }
}

std::optional<TextDfa> SchemaReader::text_dfa(const Demand& flat) {
  std::optional<TextDfa> dfa;
  const auto keep = [&](const TextDfa& other) { dfa = dfa ? both(*dfa, other, allowance_) : other; };
  for (const SchemaPart& part : flat) {
    if (part.has("pattern")) {
      if (!part.at("pattern").is_string()) refuse_keyword("pattern", part.pointer, "it is no text");
      keep(pattern(part.at("pattern").get<std::string>(), part.pointer));
    }
    if (part.has("format")) {
      if (!part.at("format").is_string()) refuse_keyword("format", part.pointer, "it is no text");
      keep(format(part.at("format").get<std::string>(), part.pointer));
    }
    if (part.has("$without")) {
      std::vector<std::string> texts;
      for (const Json& value : part.at("$without")) {
        if (value.is_string()) texts.push_back(value.get<std::string>());
      }
      if (!texts.empty()) keep(complement(texts_dfa(texts, allowance_)));
    }
  }
  const uint32_t least = largest(flat, "minLength"), most = smallest(flat, "maxLength");
  if (dfa && (least != 0 || most != kEndless)) keep(length_dfa(least, most, allowance_));
  return dfa;
}

NodePtr SchemaReader::string_of(const Demand& demand) {
  const std::optional<TextDfa> dfa = text_dfa(demand);
  if (dfa) return writer_.string(*dfa);
  const uint32_t least = largest(demand, "minLength"), most = smallest(demand, "maxLength");
  return least > most ? never() : writer_.string(least, most);
}

NumberBounds SchemaReader::bounds_of(const Demand& flat) {
  NumberBounds bounds;
  bounds.integer = is_integer(flat);
  const auto value_of = [&](const SchemaPart& part, const char* keyword) {
    if (!part.at(keyword).is_number()) refuse_keyword(keyword, part.pointer, "it is no number");
    return Decimal::of(part.at(keyword));
  };
  const auto at_least = [&](const Decimal& value, bool strict) {
    const int order = bounds.least ? value.compare(*bounds.least) : 1;
    if (order < 0) return;
    bounds.above = strict || (order == 0 && bounds.above);
    bounds.least = value;
  };
  const auto at_most = [&](const Decimal& value, bool strict) {
    const int order = bounds.most ? value.compare(*bounds.most) : -1;
    if (order > 0) return;
    bounds.below = strict || (order == 0 && bounds.below);
    bounds.most = value;
  };
  for (const SchemaPart& part : flat) {
    if (part.has("minimum")) at_least(value_of(part, "minimum"), false);
    if (part.has("exclusiveMinimum")) at_least(value_of(part, "exclusiveMinimum"), true);
    if (part.has("maximum")) at_most(value_of(part, "maximum"), false);
    if (part.has("exclusiveMaximum")) at_most(value_of(part, "exclusiveMaximum"), true);
    if (!part.has("multipleOf")) continue;
    const Decimal multiple = value_of(part, "multipleOf");
    if (multiple.negative || multiple.digits.empty())
      refuse_keyword("multipleOf", part.pointer, "it is not above 0");
    const bool kept = multiple.digits == "1" || (multiple.is_integer() && multiple.whole().size() <= 4 &&
                                                 std::stoul(multiple.whole()) <= 1000);
    if (!kept)
      refuse_keyword("multipleOf", part.pointer, "only powers of ten and whole numbers up to 1000 are kept");
    bounds.multiples.push_back(multiple);
  }
  return bounds;
}

NodePtr SchemaReader::number_of(const Demand& demand) { return writer_.number(bounds_of(demand)); }

}  // namespace mote::grammar
