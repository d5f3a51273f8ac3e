// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace mote::host {

/// Returns a function that returns how many bytes zlib makes of others, as tasks take it; an empty one where
/// this build has no zlib.
std::function<size_t(std::span<const std::byte>)> deflater();

}  // namespace mote::host
