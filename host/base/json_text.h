// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace mote::convert {

/// The depth of tokenizer.json and of the files beside it.
inline constexpr int kTokenizerJsonDepth = 32;
/// The depth of what chat templates see.
inline constexpr int kTemplateJsonDepth = 100;

/// A JSON object or array from untrusted text. `where` names it in messages. Throws Error where the text is
/// no such thing, is nested deeper than `max_depth` (1: an object of plain values) or has a key twice.
nlohmann::json parse_json_object(std::span<const std::byte> text, const std::string& where, int max_depth);
nlohmann::json parse_json_array(std::span<const std::byte> text, const std::string& where, int max_depth);
/// Returns JSON whose objects keep their order, nested no deeper than `max_depth`. Throws Error.
nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& where,
                                          int max_depth = kTemplateJsonDepth);
/// The object that a file holds.
nlohmann::json read_json_object(const std::filesystem::path& path, int max_depth);
/// Reads a file that need not be there: returns an empty object where it is not.
nlohmann::json read_optional_json_object(const std::filesystem::path& path, int max_depth);

}  // namespace mote::convert
