// SPDX-License-Identifier: Apache-2.0
//
// Typed access to a GGUF's metadata. All members throw Error, naming the file and the key.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "converter/readers/gguf_families.h"
#include "converter/readers/gguf_file.h"
#include "converter/readers/readers.h"
#include "host/base/bytes.h"
#include "host/base/error.h"

namespace mote::convert {

/// The metadata, with a record of what was read. Keys are given without the architecture.
class GgufKeys {
 public:
  GgufKeys(const GgufFile& file, const std::string& where, std::string_view architecture)
      : file_(file), where_(where), prefix_(std::string(architecture) + ".") {}

  const GgufValue* find(const std::string& key) {
    read_.insert(prefix_ + key);
    return find_exact(prefix_ + key);
  }

  const GgufValue* find_exact(const std::string& key) const {
    const auto found = file_.metadata.find(key);
    return found == file_.metadata.end() ? nullptr : &found->second;
  }

  std::optional<double> number(const std::string& key) {
    const GgufValue* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (const auto* list = std::get_if<GgufArray>(value)) {
      if (const auto same = same_number(*list)) return same;
    }
    if (const auto* integer = std::get_if<int64_t>(value)) return static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(value); real != nullptr && std::isfinite(*real)) return *real;
    fail("{}: {}{} is not one finite number (models whose layers differ are not read)", where_, prefix_, key);
  }

  /// A whole number below 2^31, if there.
  std::optional<uint32_t> size(const std::string& key) {
    const auto value = number(key);
    if (value &&
        !(*value >= 0 && *value <= std::numeric_limits<int32_t>::max() && *value == std::floor(*value))) {
      fail("{}: {}{} is {}, expected a size", where_, prefix_, key, *value);
    }
    return value ? std::optional(static_cast<uint32_t>(*value)) : std::nullopt;
  }

  /// A whole number for each of `layers`, from a list or one for all.
  std::vector<uint32_t> sizes(const std::string& key, uint64_t layers) {
    const auto* list = std::get_if<GgufArray>(find(key));
    if (list == nullptr) return std::vector<uint32_t>(layers, size(key).value_or(0));
    if (!is_integers(*list) || list->count != layers)
      fail("{}: {}{} is no whole number for each of {} layers", where_, prefix_, key, layers);
    std::vector<uint32_t> all(layers);
    for (uint64_t i = 0; i < layers; ++i) all[i] = load<uint32_t>(list->bytes.data() + i * sizeof(uint32_t));
    return all;
  }

  /// True or false for each of `layers`, from a list of flags or of numbers.
  std::vector<bool> flags(const std::string& key, uint64_t layers) {
    const auto* list = std::get_if<GgufArray>(find(key));
    if (list == nullptr || list->count < layers || (list->type != GgufType::flag && !is_integers(*list)))
      fail("{}: {}{} is no list of flags for {} layers", where_, prefix_, key, layers);
    std::vector<bool> all(layers);
    for (uint64_t i = 0; i < layers; ++i)
      all[i] = list->type == GgufType::flag ? list->bytes[i] != std::byte{0}
                                            : load<uint32_t>(list->bytes.data() + i * sizeof(uint32_t)) != 0;
    return all;
  }

  /// A number for each of `layers`; infinite ones are allowed.
  std::vector<double> reals(const std::string& key, uint64_t layers) {
    const auto* list = std::get_if<GgufArray>(find(key));
    if (list == nullptr || list->type != GgufType::f32 || list->count != layers)
      fail("{}: {}{} is no number for each of {} layers", where_, prefix_, key, layers);
    std::vector<double> all(layers);
    for (uint64_t i = 0; i < layers; ++i)
      all[i] = double{load<float>(list->bytes.data() + i * sizeof(float))};
    return all;
  }

  /// True or false, if there.
  std::optional<bool> flag(const std::string& key) {
    const GgufValue* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (const auto* flag = std::get_if<bool>(value)) return *flag;
    fail("{}: {}{} is not true or false", where_, prefix_, key);
  }

  std::string text(const std::string& key, const char* fallback) {
    const GgufValue* value = find(key);
    if (value == nullptr) return fallback;
    if (const auto* text = std::get_if<std::string_view>(value)) return std::string(*text);
    fail("{}: {}{} is not a string", where_, prefix_, key);
  }

  /// A token id, unless absent or -1 in any width.
  std::optional<int32_t> token(const std::string& key) const {
    const GgufValue* value = find_exact("tokenizer.ggml." + key);
    const auto* id = value == nullptr ? nullptr : std::get_if<int64_t>(value);
    if (id == nullptr || *id < 0 || *id > std::numeric_limits<int32_t>::max()) return std::nullopt;
    return static_cast<int32_t>(*id);
  }

  /// Fails for all keys of the architecture that were not read but that llama.cpp reads, unless their value
  /// is known to change nothing or the user says so. Others are noted.
  void finish(Source& source) const {
    static const std::map<std::string, double> kNeutral = {{"attention.causal", 1},
                                                           {"attention.sliding_window", 0},
                                                           {"attention.sliding_window_pattern", 1},
                                                           {"nextn_predict_layers", 0},
                                                           {"rope.scaling.alpha", 0}};
    // Keys that llama.cpp heeds in a few architectures alone, or that follow from other keys.
    static const std::set<std::string> kIgnored = {"context_length",         "rope.scaling.finetuned",
                                                   "rope.dimension_count",   "feed_forward_length",
                                                   "attention.head_count",   "vocab_size",
                                                   "classifier.pooling_type"};
    const bool has_experts = positive("expert_count");
    std::vector<std::string> unread, refused;
    for (const auto& [full_key, value] : file_.metadata) {
      if (full_key.compare(0, prefix_.size(), prefix_) != 0 || read_.count(full_key)) continue;
      const std::string key = full_key.substr(prefix_.size());
      if (!llama_cpp_reads(std::string_view(prefix_).substr(0, prefix_.size() - 1), key)) {
        unread.push_back(shown(full_key));
        continue;
      }
      const auto neutral = kNeutral.find(key);
      if (kIgnored.count(key) || (key.starts_with("expert_") && !has_experts) || is_empty(value) ||
          (neutral != kNeutral.end() && is_equal(value, neutral->second)))
        continue;
      if (!source.ignores(full_key)) refused.push_back(shown(full_key));
    }
    if (!refused.empty())
      fail(
          "{}: metadata {} {} not understood and may change the results (--ignore-key KEY says that one does "
          "not)",
          where_, fmt::join(refused, ", "), refused.size() == 1 ? "is" : "are");
    if (!unread.empty())
      source.notes.push_back(
          fmt::format("keys that llama.cpp does not read change nothing: {}", fmt::join(unread, ", ")));
  }

 private:
  /// Returns the number of a list with a number for each layer, all of them equal.
  static std::optional<double> same_number(const GgufArray& list) {
    if (!is_integers(list) || list.count == 0) return std::nullopt;
    const auto first = load<int32_t>(list.bytes.data());
    for (uint64_t i = 1; i < list.count; ++i) {
      if (load<int32_t>(list.bytes.data() + i * sizeof first) != first) return std::nullopt;
    }
    return first;
  }

  static bool is_integers(const GgufArray& list) {
    return list.type == GgufType::u32 || list.type == GgufType::i32;
  }

  bool positive(const std::string& key) const {
    const GgufValue* value = find_exact(prefix_ + key);
    const auto* number = value == nullptr ? nullptr : std::get_if<int64_t>(value);
    return number != nullptr && *number > 0;
  }

  /// An empty text or list, which a writer has where there is nothing to say.
  static bool is_empty(const GgufValue& value) {
    if (const auto* text = std::get_if<std::string_view>(&value)) return text->empty();
    const auto* list = std::get_if<GgufArray>(&value);
    return list != nullptr && list->count == 0;
  }

  static bool is_equal(const GgufValue& value, double expected) {
    if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer) == expected;
    if (const auto* flag = std::get_if<bool>(&value)) return (*flag ? 1 : 0) == expected;
    return false;
  }

  const GgufFile& file_;
  const std::string& where_;
  std::string prefix_;
  std::set<std::string> read_;
};

}  // namespace mote::convert
