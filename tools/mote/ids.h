// SPDX-License-Identifier: Apache-2.0
//
// Token ids as people write them, and made-up ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mote::cli {

/// Numbers separated by commas or white space. `what` begins the message of the convert::Error thrown
/// otherwise.
std::vector<int32_t> parse_ids(std::string_view text, const std::string& what);

/// Those of an option --ids. Throws UsageError.
std::vector<int32_t> given_ids(std::string_view text);

/// The ids of a text file.
std::vector<int32_t> read_ids(const std::string& path);

/// Returns n ids, the same at each call.
std::vector<int32_t> pseudo_random_ids(uint32_t n, uint32_t vocab);

}  // namespace mote::cli
