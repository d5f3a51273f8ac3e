// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/regex.h"

#include <utility>

#include "host/base/error.h"
#include "runtime/text/utf8.h"

namespace mote::convert {
namespace {

RegexPtr make(Regex::Kind kind, std::vector<RegexPtr> parts) {
  auto regex = std::make_shared<Regex>();
  regex->kind = kind;
  regex->parts = std::move(parts);
  return regex;
}

}  // namespace

RegexPtr make_characters(CharSet set) {
  auto regex = std::make_shared<Regex>();
  regex->kind = Regex::Kind::characters;
  regex->set = std::move(set);
  return regex;
}

RegexPtr make_not_ahead(CharSet set) {
  auto regex = std::make_shared<Regex>();
  regex->kind = Regex::Kind::not_ahead;
  regex->set = std::move(set);
  return regex;
}

RegexPtr make_sequence(std::vector<RegexPtr> parts) {
  return parts.size() == 1 ? parts.front() : make(Regex::Kind::sequence, std::move(parts));
}

RegexPtr make_choice(std::vector<RegexPtr> parts) {
  return parts.size() == 1 ? parts.front() : make(Regex::Kind::choice, std::move(parts));
}

RegexPtr make_repeat(RegexPtr part, uint32_t least, uint32_t most) {
  auto regex = std::make_shared<Regex>();
  regex->kind = Regex::Kind::repeat;
  regex->parts = {std::move(part)};
  regex->least = least;
  regex->most = most;
  return regex;
}

RegexPtr make_literal(std::string_view utf8) {
  std::vector<RegexPtr> parts;
  for (const uint32_t c : code_points(utf8)) parts.push_back(make_characters(CharSet::of(c)));
  return make_sequence(std::move(parts));
}

RegexPtr restrict_to(const RegexPtr& regex, const CharSet& set) {
  switch (regex->kind) {
    case Regex::Kind::characters: {
      CharSet left = regex->set & set;
      return left.empty() ? nullptr : make_characters(std::move(left));
    }
    case Regex::Kind::not_ahead:
      return make_not_ahead(regex->set & set);
    case Regex::Kind::repeat: {
      RegexPtr part = restrict_to(regex->parts.front(), set);
      if (part == nullptr) return regex->least == 0 ? make_sequence({}) : nullptr;
      return make_repeat(std::move(part), regex->least, regex->most);
    }
    case Regex::Kind::sequence:
    case Regex::Kind::choice:
      break;
  }
  const bool all = regex->kind == Regex::Kind::sequence;
  std::vector<RegexPtr> parts;
  for (const RegexPtr& part : regex->parts) {
    RegexPtr left = restrict_to(part, set);
    if (left != nullptr) {
      parts.push_back(std::move(left));
    } else if (all) {
      return nullptr;
    }
  }
  if (all) return make_sequence(std::move(parts));
  return parts.empty() ? nullptr : make_choice(std::move(parts));
}

std::vector<uint32_t> code_points(std::string_view utf8) {
  std::vector<uint32_t> result;
  const auto* at = reinterpret_cast<const uint8_t*>(utf8.data());
  const auto* end = at + utf8.size();
  while (at < end) {
    const Utf8Character character = utf8_decode(at, end);
    if (!character.valid) fail("'{}' is not UTF-8", utf8);
    result.push_back(character.code_point);
    at += character.bytes;
  }
  return result;
}

}  // namespace mote::convert
