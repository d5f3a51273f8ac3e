// SPDX-License-Identifier: Apache-2.0
//
// LongRoPE (Ding et al. 2024) has two sets of factors. The original takes the long ones for a text longer
// than original_max_position_embeddings and the short ones for others; a .mote file has one of the two.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mote::convert {

/// With `long_context` the config stays as it is, and its long factors serve texts of any length; otherwise
/// its context becomes the one of the short factors. Returns what is to be said of the choice; empty where
/// there is none.
std::string choose_longrope(bool long_context, nlohmann::json& config);

}  // namespace mote::convert
