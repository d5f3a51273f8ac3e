// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mote::convert {

/// ", did you mean 'q4g32'?" if one of the names is near, else "".
std::string did_you_mean(const std::string& given, const std::vector<std::string>& names);

}  // namespace mote::convert
