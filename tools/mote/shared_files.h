// SPDX-License-Identifier: Apache-2.0
//
// Files that come with the command: in ../share/mote of its folder, or in share/mote of a build.
#pragma once

#include <string>

namespace mote::cli {

/// Returns the path of such a file. Throws convert::Error where it is in neither place.
std::string shared_file(const std::string& name);

}  // namespace mote::cli
