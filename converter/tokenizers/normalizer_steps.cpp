// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/tokenizers/normalizer_spec.h"
#include "converter/tokenizers/unicode_data.h"
#include "host/base/bytes.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"
#include "runtime/text/utf8.h"

namespace mote::convert {

NormalizerSpec canonical_form(bool compatible, bool compose) {
  NormalizerSpec step{
      compose ? NormalizerKind::compose : NormalizerKind::decompose, CharacterMap(), {}, {}, {}};
  step.map->set_each([&](uint32_t c) { return decomposition(c, compatible); });
  return step;
}

void add_map(std::vector<NormalizerSpec>& steps, const CharacterMap& map) {
  if (!steps.empty() && steps.back().kind == NormalizerKind::map) {
    steps.back().map = steps.back().map->then(map);
  } else {
    steps.push_back({NormalizerKind::map, map, {}, {}, {}});
  }
}

void add_bert_steps(std::vector<NormalizerSpec>& steps, const BertOptions& options) {
  CharacterMap cleaned;
  if (options.clean) cleaned.set(space_set(), U" ").set(control_set(), U"");
  CharacterMap spaced;
  if (options.spaced_ideographs) {
    spaced.set(ideograph_set(), {U' ', static_cast<char32_t>(kSameCharacter), U' '});
  }
  if (options.clean || options.spaced_ideographs) add_map(steps, cleaned.then(spaced));
  if (options.strip_accents) {
    steps.push_back(canonical_form(false, false));
    add_map(steps, CharacterMap().set(nonspacing_mark_set(), U""));
  }
  if (options.lowercase) add_map(steps, CharacterMap().set_each(lower_case));
}

// ---- Precompiled maps ----

namespace {

/// Darts-clone's units: a label or, in a leaf, a value; the distance to the children.
class DoubleArray {
 public:
  explicit DoubleArray(std::vector<uint32_t> units) : units_(std::move(units)) {}

  /// Calls `found` with each key and its value; with `shortest`, with those that no shorter one starts.
  template <class Found>
  void walk(bool shortest, const Found& found) {
    std::string key;
    shortest_ = shortest;
    walk_from(child_base(0), key, found);
  }

 private:
  static constexpr size_t kLongestKey = 64;
  static constexpr size_t kMostSteps = 1 << 20;  // keys may share their ends, so the array's size is no bound

  uint32_t unit(uint32_t at) const {
    if (at >= units_.size()) fail("a precompiled character map leads outside itself");
    return units_[at];
  }
  uint32_t child_base(uint32_t at) const {
    const uint32_t u = unit(at);
    return at ^ (u >> 10 << ((u & 1u << 9) >> 6));
  }

  template <class Found>
  void walk_from(uint32_t base, std::string& key, const Found& found) {
    if (key.size() > kLongestKey)
      fail("a precompiled character map has a key of more than {} bytes", kLongestKey);
    for (uint32_t byte = 1; byte < 256; ++byte) {
      const uint32_t at = base ^ byte;
      if (at >= units_.size() || (units_[at] & (1u << 31 | 0xFF)) != byte) continue;
      charge_work(256);
      if (++steps_ > kMostSteps) fail("a precompiled character map has too many keys");
      key += static_cast<char>(byte);
      const uint32_t next = child_base(at);
      const bool whole = (units_[at] >> 8 & 1) != 0;
      if (whole) found(key, unit(next) & 0x7FFFFFFF);
      if (!whole || !shortest_) walk_from(next, key, found);
      key.pop_back();
    }
  }

  std::vector<uint32_t> units_;
  size_t steps_ = 0;
  bool shortest_ = true;
};

using TextKeys = std::map<std::string, std::u32string>;

TextKeys keys_of_map(const std::string& bytes, bool shortest) {
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  const uint32_t array_bytes = bytes.size() < 4 ? 0 : load<uint32_t>(data);
  if (array_bytes % 4 != 0 || array_bytes == 0 || array_bytes > bytes.size() - 4) {
    fail("a precompiled character map is damaged");
  }
  std::vector<uint32_t> units;
  for (uint32_t at = 4; at < 4 + array_bytes; at += 4) units.push_back(load<uint32_t>(data + at));
  const std::string texts = bytes.substr(4 + array_bytes);
  TextKeys keys;
  DoubleArray(std::move(units)).walk(shortest, [&](const std::string& key, uint32_t at) {
    if (at >= texts.size()) fail("a precompiled character map has no text at {}", at);
    const size_t end = std::min(texts.find('\0', at), texts.size());
    charge_bytes(key.size() + (end - at) * sizeof(char32_t));  // keys may share a text
    std::u32string text;
    for (const uint32_t c : code_points(std::string_view(texts).substr(at, end - at)))
      text += static_cast<char32_t>(c);
    keys[key] = text;
  });
  return keys;
}

}  // namespace

NormalizerSpec precompiled_map(const std::string& bytes) {
  NormalizerSpec step{NormalizerKind::clusters, {}, {}, grapheme_cluster(), {}};
  step.keys = keys_of_map(bytes, true);
  return step;
}

NormalizerSpec sentence_piece_map(const std::string& bytes, bool spaces) {
  NormalizerSpec step{NormalizerKind::longest, {}, {}, {}, {}};
  if (!bytes.empty()) step.keys = keys_of_map(bytes, false);
  step.left = spaces;
  return step;
}

}  // namespace mote::convert
