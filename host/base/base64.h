// SPDX-License-Identifier: Apache-2.0
//
// RFC 4648.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mote::convert {

/// The bytes that a text stands for, with or without its padding; nothing if it is none.
std::optional<std::string> from_base64(std::string_view text);

/// With padding, on one line.
std::string to_base64(std::span<const std::byte> bytes);

}  // namespace mote::convert
