// SPDX-License-Identifier: Apache-2.0
#include "converter/tokenizers/unicode_data.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <span>

namespace mote::convert {
namespace {

struct Range {
  uint32_t first, last;
};

// Marks that came after Unicode 9: neither marks nor of any combining class there.
constexpr Range kLaterMarks[] = {
    {0x7FD, 0x7FD},     {0x898, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},     {0xAFA, 0xAFF},
    {0xB55, 0xB55},     {0xC04, 0xC04},     {0xC3C, 0xC3C},     {0xCF3, 0xCF3},     {0xD00, 0xD00},
    {0xD3B, 0xD3C},     {0xD81, 0xD81},     {0xEBA, 0xEBA},     {0xECE, 0xECE},     {0x1715, 0x1715},
    {0x180F, 0x180F},   {0x1ABF, 0x1ACE},   {0x1CF7, 0x1CF7},   {0x1DF6, 0x1DFA},   {0xA82C, 0xA82C},
    {0xA8FF, 0xA8FF},   {0x10D24, 0x10D27}, {0x10EAB, 0x10EAC}, {0x10EFD, 0x10EFF}, {0x10F46, 0x10F50},
    {0x10F82, 0x10F85}, {0x11070, 0x11070}, {0x11073, 0x11074}, {0x110C2, 0x110C2}, {0x11145, 0x11146},
    {0x111C9, 0x111C9}, {0x111CE, 0x111CF}, {0x11241, 0x11241}, {0x1133B, 0x1133B}, {0x1145E, 0x1145E},
    {0x1182C, 0x1183A}, {0x11930, 0x11935}, {0x11937, 0x11938}, {0x1193B, 0x1193E}, {0x11940, 0x11940},
    {0x11942, 0x11943}, {0x119D1, 0x119D7}, {0x119DA, 0x119E0}, {0x119E4, 0x119E4}, {0x11A01, 0x11A0A},
    {0x11A33, 0x11A39}, {0x11A3B, 0x11A3E}, {0x11A47, 0x11A47}, {0x11A51, 0x11A5B}, {0x11A8A, 0x11A99},
    {0x11D31, 0x11D36}, {0x11D3A, 0x11D3A}, {0x11D3C, 0x11D3D}, {0x11D3F, 0x11D45}, {0x11D47, 0x11D47},
    {0x11D8A, 0x11D8E}, {0x11D90, 0x11D91}, {0x11D93, 0x11D97}, {0x11EF3, 0x11EF6}, {0x11F00, 0x11F01},
    {0x11F03, 0x11F03}, {0x11F34, 0x11F3A}, {0x11F3E, 0x11F42}, {0x13440, 0x13440}, {0x13447, 0x13455},
    {0x16F4F, 0x16F4F}, {0x16F7F, 0x16F87}, {0x16FE4, 0x16FE4}, {0x16FF0, 0x16FF1}, {0x1CF00, 0x1CF2D},
    {0x1CF30, 0x1CF46}, {0x1E08F, 0x1E08F}, {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE}, {0x1E2EC, 0x1E2EF},
    {0x1E4EC, 0x1E4EF}};

// And nonspacing ones that came after Unicode 8.
constexpr Range kLaterNonspacing[] = {
    {0x8D4, 0x8E1},     {0x1885, 0x1886},   {0x1DFB, 0x1DFB},   {0xA8C5, 0xA8C5},   {0xA9BD, 0xA9BD},
    {0x1123E, 0x1123E}, {0x11438, 0x1143F}, {0x11442, 0x11444}, {0x11446, 0x11446}, {0x11C30, 0x11C36},
    {0x11C38, 0x11C3D}, {0x11C3F, 0x11C3F}, {0x11C92, 0x11CA7}, {0x11CAA, 0x11CB0}, {0x11CB2, 0x11CB3},
    {0x11CB5, 0x11CB6}, {0x1E000, 0x1E006}, {0x1E008, 0x1E018}, {0x1E01B, 0x1E021}, {0x1E023, 0x1E024},
    {0x1E026, 0x1E02A}, {0x1E944, 0x1E94A}};

// Punctuation that came after Unicode 8.
constexpr Range kLaterPunctuation[] = {
    {0x61D, 0x61D},     {0x9FD, 0x9FD},     {0xA76, 0xA76},     {0xC77, 0xC77},     {0xC84, 0xC84},
    {0x1B7D, 0x1B7E},   {0x2E43, 0x2E4F},   {0x2E52, 0x2E5D},   {0x10EAD, 0x10EAD}, {0x10F55, 0x10F59},
    {0x10F86, 0x10F89}, {0x1144B, 0x1144F}, {0x1145A, 0x1145B}, {0x1145D, 0x1145D}, {0x11660, 0x1166C},
    {0x116B9, 0x116B9}, {0x1183B, 0x1183B}, {0x11944, 0x11946}, {0x119E2, 0x119E2}, {0x11A3F, 0x11A46},
    {0x11A9A, 0x11A9C}, {0x11A9E, 0x11AA2}, {0x11B00, 0x11B09}, {0x11C41, 0x11C45}, {0x11C70, 0x11C71},
    {0x11EF7, 0x11EF8}, {0x11F43, 0x11F4F}, {0x11FFF, 0x11FFF}, {0x12FF1, 0x12FF2}, {0x16E97, 0x16E9A},
    {0x16FE2, 0x16FE2}, {0x1E95E, 0x1E95F}};

// Decompositions that came after Unicode 12.0.
constexpr Range kLaterDecompositions[] = {
    {0x32FF, 0x32FF},   {0xA7F2, 0xA7F4},   {0xAB69, 0xAB69},   {0x10781, 0x10785}, {0x10787, 0x107B0},
    {0x107B2, 0x107BA}, {0x11938, 0x11938}, {0x1E030, 0x1E06D}, {0x1F16C, 0x1F16C}, {0x1FBF0, 0x1FBF9}};

// Small letters that came after Unicode 15: `to` for `first` and so on.
struct LaterLetters {
  uint32_t first, last, to;
};
constexpr LaterLetters kLaterLetters[] = {{0x1C89, 0x1C89, 0x1C8A},    {0xA7CB, 0xA7CB, 0x0264},
                                          {0xA7CC, 0xA7CC, 0xA7CD},    {0xA7CE, 0xA7CE, 0xA7CF},
                                          {0xA7D2, 0xA7D2, 0xA7D3},    {0xA7D4, 0xA7D4, 0xA7D5},
                                          {0xA7DA, 0xA7DA, 0xA7DB},    {0xA7DC, 0xA7DC, 0x019B},
                                          {0x10D50, 0x10D65, 0x10D70}, {0x16EA0, 0x16EB8, 0x16EBB}};

constexpr uint32_t kHangulFirst = 0xAC00, kHangulLast = 0xD7A3;

CharSet set_of(std::span<const Range> ranges) {
  CharSet set;
  for (const Range& range : ranges) set.add(range.first, range.last);
  return set;
}

CharSet without(const CharSet& set, std::span<const Range> ranges) {
  return set & set_of(ranges).complement();
}

const utf8proc_property_t& property(uint32_t c) {
  return *utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
}

CharSet boundary_set(std::initializer_list<utf8proc_boundclass_t> wanted) {
  CharSet set;
  for (uint32_t c = 0; c < kCodePoints; ++c) {
    const auto boundary = static_cast<utf8proc_boundclass_t>(property(c).boundclass);
    if (std::find(wanted.begin(), wanted.end(), boundary) != wanted.end()) set.add(c, c);
  }
  return set;
}

/// The pair that a character decomposes to and is composed of again; none: first 0.
Composition primary_composition(uint32_t c) {
  const std::u32string parts = decomposition(c, false);
  if (parts.size() < 2 || property(c).comp_exclusion != 0) return {};
  // All but the last part make up the first of the pair, itself composed where there are several.
  uint32_t first = parts[0];
  for (size_t i = 1; i + 1 < parts.size(); ++i) {
    utf8proc_int32_t pair[] = {static_cast<utf8proc_int32_t>(first), static_cast<utf8proc_int32_t>(parts[i])};
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (utf8proc_normalize_utf32(pair, 2, options) != 1) return {};
    first = static_cast<uint32_t>(pair[0]);
  }
  utf8proc_int32_t pair[] = {static_cast<utf8proc_int32_t>(first),
                             static_cast<utf8proc_int32_t>(parts.back())};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  if (utf8proc_normalize_utf32(pair, 2, options) != 1 || static_cast<uint32_t>(pair[0]) != c) return {};
  return {first, parts.back(), c};
}

}  // namespace

std::u32string decomposition(uint32_t code_point, bool compatible) {
  static const CharSet kLater = set_of(kLaterDecompositions);
  if ((code_point >= kHangulFirst && code_point <= kHangulLast) || kLater.has(code_point))
    return {code_point};
  std::array<utf8proc_int32_t, 32> parts{};
  int last_boundary = 0;
  const int options = UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code_point), parts.data(), parts.size(),
                              static_cast<utf8proc_option_t>(options), &last_boundary);
  if (count < 1 || count > static_cast<utf8proc_ssize_t>(parts.size())) return {code_point};
  return {parts.begin(), parts.begin() + count};
}

uint32_t combining_class(uint32_t code_point) {
  static const CharSet kLater = set_of(kLaterMarks);
  return kLater.has(code_point) ? 0 : static_cast<uint32_t>(property(code_point).combining_class);
}

std::vector<CombiningRange> combining_ranges() {
  std::vector<CombiningRange> ranges;
  for (uint32_t c = 0; c < kCodePoints; ++c) {
    const uint32_t its_class = combining_class(c);
    if (its_class == 0) continue;
    if (!ranges.empty() && ranges.back().last + 1 == c && ranges.back().combining_class == its_class) {
      ranges.back().last = c;
    } else {
      ranges.push_back({c, c, its_class});
    }
  }
  return ranges;
}

const std::vector<Composition>& compositions() {
  static const auto kCompositions = [] {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> pairs;
    for (uint32_t c = 0; c < kCodePoints; ++c) {
      const Composition pair = primary_composition(c);
      if (pair.first != 0) pairs[{pair.first, pair.second}] = c;
    }
    std::vector<Composition> result;
    for (const auto& [pair, composed] : pairs) result.push_back({pair.first, pair.second, composed});
    return result;
  }();
  return kCompositions;
}

std::u32string lower_case(uint32_t code_point) {
  constexpr uint32_t kDottedCapitalI = 0x130;
  if (code_point == kDottedCapitalI) return U"i\u0307";
  for (const LaterLetters& later : kLaterLetters) {
    if (code_point >= later.first && code_point <= later.last) return {later.to + (code_point - later.first)};
  }
  return {static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code_point)))};
}

CharSet mark_set() { return without(category_set("M"), kLaterMarks).add(0x1CF2, 0x1CF3); }

CharSet nonspacing_mark_set() {
  return without(without(category_set("Mn"), kLaterMarks), kLaterNonspacing).add(0x1734, 0x1734);
}

CharSet control_set() {
  constexpr Range kKept[] = {{0x09, 0x0A},   {0x0D, 0x0D},       {0x890, 0x891},
                             {0x8E2, 0x8E2}, {0x110CD, 0x110CD}, {0x13430, 0x1343F}};
  return without(category_set("Cc") | category_set("Cf") | category_set("Co"), kKept)
      .add(0, 0)
      .add(0xFFFD, 0xFFFD);
}

CharSet ideograph_set() {
  constexpr Range kIdeographs[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                   {0x20000, 0x2A6DF}, {0x2A700, 0x2B81F}, {0x2B920, 0x2CEAF},
                                   {0x2F800, 0x2FA1F}};
  return set_of(kIdeographs);
}

CharSet punctuation_set() {
  CharSet set = without(category_set("P"), kLaterPunctuation).add(0x166D, 0x166D).add(0x111C9, 0x111C9);
  for (const char c : {'$', '+', '<', '=', '>', '^', '`', '|', '~'}) {
    set.add(static_cast<uint32_t>(c), static_cast<uint32_t>(c));
  }
  return set;
}

CharSet regex_word_set() {
  // Letters in all but category, and the joiners.
  constexpr Range kMore[] = {
      {0x200C, 0x200D}, {0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
  return word_set() | category_set("Nl") | set_of(kMore);
}

RegexPtr grapheme_cluster() {
  const auto one = [](std::initializer_list<utf8proc_boundclass_t> classes) {
    return make_characters(boundary_set(classes));
  };
  const auto any = [](const RegexPtr& part) { return make_repeat(part, 0, Regex::kUnlimited); };
  const auto some = [](const RegexPtr& part) { return make_repeat(part, 1, Regex::kUnlimited); };
  const RegexPtr lead = one({UTF8PROC_BOUNDCLASS_L}), vowel = one({UTF8PROC_BOUNDCLASS_V});
  const RegexPtr trail = one({UTF8PROC_BOUNDCLASS_T}), lv = one({UTF8PROC_BOUNDCLASS_LV});
  const RegexPtr lvt = one({UTF8PROC_BOUNDCLASS_LVT}), extend = one({UTF8PROC_BOUNDCLASS_EXTEND});
  const RegexPtr joiner = one({UTF8PROC_BOUNDCLASS_ZWJ}),
                 flag = one({UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR});
  const RegexPtr picture = one({UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC});
  const RegexPtr prepend = make_characters(cluster_prepend_set());
  const RegexPtr cr = one({UTF8PROC_BOUNDCLASS_CR}), lf = one({UTF8PROC_BOUNDCLASS_LF});
  const RegexPtr control = one({UTF8PROC_BOUNDCLASS_CR, UTF8PROC_BOUNDCLASS_LF, UTF8PROC_BOUNDCLASS_CONTROL});
  const RegexPtr tail =
      one({UTF8PROC_BOUNDCLASS_EXTEND, UTF8PROC_BOUNDCLASS_ZWJ, UTF8PROC_BOUNDCLASS_SPACINGMARK});
  const RegexPtr other = make_characters(control->set.complement());
  const RegexPtr syllable =
      make_choice({make_sequence({any(lead), make_choice({some(vowel), make_sequence({lv, any(vowel)}), lvt}),
                                  any(trail)}),
                   some(lead), some(trail)});
  const RegexPtr pictures = make_sequence({picture, any(make_sequence({any(extend), joiner, picture}))});
  const RegexPtr core = make_choice({syllable, make_sequence({flag, flag}), pictures, other});
  return make_choice({make_sequence({cr, lf}), control, make_sequence({any(prepend), core, any(tail)})});
}

CharSet cluster_start_set() { return boundary_set({UTF8PROC_BOUNDCLASS_OTHER, UTF8PROC_BOUNDCLASS_CONTROL}); }

CharSet cluster_prepend_set() { return boundary_set({UTF8PROC_BOUNDCLASS_PREPEND}); }

}  // namespace mote::convert
