// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mote::convert {

/// ", did you mean 'tokens'?" if one of the names is near, else "".
std::string did_you_mean(const std::string& given, const std::vector<std::string>& names);

}  // namespace mote::convert
