// SPDX-License-Identifier: Apache-2.0
//
// A character opens a part if no step can join what it becomes to what stands before: followed through the
// steps, all that may come out first of what starts with it. A character closes one unless it could become
// the prepended start of a grapheme cluster.
#include <algorithm>

#include "converter/tokenizers/normalizer_spec.h"
#include "converter/tokenizers/unicode_data.h"
#include "host/base/error.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

// Beyond lies nothing that text is made of.
constexpr uint32_t kLastPlanes = 0x30000;

using Firsts = std::vector<uint32_t>;

void collect(const RegexPtr& regex, CharSet& set) {
  if (regex->kind == Regex::Kind::not_ahead) fail("a normalizer's expression looks ahead");
  if (regex->kind == Regex::Kind::characters) set = set | regex->set;
  for (const RegexPtr& part : regex->parts) collect(part, set);
}

/// One step: what may come out first for a character that comes in first, none if it may be joined to what
/// stands before or leave nothing.
class StepFirsts {
 public:
  explicit StepFirsts(const NormalizerSpec& step) : step_(step) {
    if (step.kind == NormalizerKind::compose) {
      joined_.add(0x1161, 0x1175).add(0x11A8, 0x11C2);  // Hangul's vowels and trails
      for (const Composition& c : compositions()) {
        joined_.add(c.second, c.second);
        composed_.emplace(c.first, c.composed);
      }
    }
    if (step.kind == NormalizerKind::clusters) starts_ = cluster_start_set();
    if (step.kind == NormalizerKind::replace) collect(step.matcher, joined_);
    if (step.kind == NormalizerKind::strip) joined_ = space_set();
    std::vector<CharSet::Range> behind;
    for (const auto& [key, text] : step.keys) {
      const std::vector<uint32_t> characters = code_points(key);
      cluster_texts_.emplace(characters.front(), text);
      if (step.kind != NormalizerKind::longest) continue;
      for (size_t i = 1; i < characters.size(); ++i) behind.push_back({characters[i], characters[i]});
    }
    joined_ = joined_ | CharSet::of_ranges(std::move(behind));
  }

  Firsts operator()(uint32_t c) const {
    switch (step_.kind) {
      case NormalizerKind::map:
        return first_of(step_.map->text_of(c));
      case NormalizerKind::decompose:
      case NormalizerKind::compose:
        return canonical(c);
      case NormalizerKind::clusters:
        return starts_.has(c) ? keyed(c) : Firsts{};
      case NormalizerKind::longest:
        return joined_.has(c) ? Firsts{} : without_spaces(keyed(c));
      case NormalizerKind::replace:
      case NormalizerKind::strip:
        break;
    }
    return joined_.has(c) ? Firsts{} : Firsts{c};
  }

 private:
  static Firsts first_of(const std::u32string& text) {
    return text.empty() ? Firsts{} : Firsts{text.front()};
  }

  Firsts canonical(uint32_t c) const {
    Firsts firsts = first_of(step_.map->text_of(c));
    if (firsts.empty() || combining_class(firsts[0]) != 0 || joined_.has(firsts[0])) return {};
    for (size_t i = 0; i < firsts.size(); ++i) {
      const auto [begin, end] = composed_.equal_range(firsts[i]);
      for (auto it = begin; it != end; ++it) firsts.push_back(it->second);
    }
    return firsts;
  }

  /// Spaces join where several become one.
  Firsts without_spaces(Firsts firsts) const {
    const bool joins = step_.left && std::find(firsts.begin(), firsts.end(), ' ') != firsts.end();
    return joins ? Firsts{} : firsts;
  }

  Firsts keyed(uint32_t c) const {
    Firsts firsts = {c};
    const auto [begin, end] = cluster_texts_.equal_range(c);
    for (auto it = begin; it != end; ++it) {
      if (it->second.empty()) return {};
      firsts.push_back(it->second.front());
    }
    return firsts;
  }

  const NormalizerSpec& step_;
  CharSet joined_, starts_;
  std::multimap<uint32_t, uint32_t> composed_;
  std::multimap<uint32_t, std::u32string> cluster_texts_;
};

bool opens(const std::vector<StepFirsts>& steps, uint32_t c) {
  Firsts firsts = {c};
  for (const StepFirsts& step : steps) {
    Firsts next;
    for (const uint32_t first : firsts) {
      const Firsts made = step(first);
      if (made.empty()) return false;
      next.insert(next.end(), made.begin(), made.end());
    }
    charge_work(next.size());
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    firsts = next;
  }
  return true;
}

bool closes(const std::vector<NormalizerSpec>& steps, const CharSet& prepended, uint32_t c) {
  std::u32string text = {static_cast<char32_t>(c)};
  for (const NormalizerSpec& step : steps) {
    if (step.kind == NormalizerKind::clusters) {
      if (text.empty() || prepended.has(text.back())) return false;
    }
    if (!step.map) continue;
    std::u32string next;
    for (const char32_t part : text) {
      next += step.map->text_of(part);
      charge_work(1 + next.size() / 64);
    }
    text = next;
  }
  return true;
}

}  // namespace

Cuts find_cuts(const std::vector<NormalizerSpec>& steps) {
  Cuts cuts;
  if (steps.empty()) return cuts;
  const CharSet prepended = cluster_prepend_set();
  std::vector<StepFirsts> firsts;
  for (const NormalizerSpec& step : steps) firsts.emplace_back(step);
  for (uint32_t c = 0; c < kLastPlanes; ++c) {
    if (opens(firsts, c)) cuts.opens.add(c, c);
    if (closes(steps, prepended, c)) cuts.closes.add(c, c);
  }
  return cuts;
}

}  // namespace mote::convert
