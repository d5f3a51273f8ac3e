// SPDX-License-Identifier: Apache-2.0
//
// Runs mote with system calls that fail: tests/support/faults.cpp says how they are named.
#pragma once

#include <cerrno>
#include <string>
#include <vector>

#include "tests/tools/command.h"

namespace mote::testing {

/// For run()'s `before`.
inline std::string with_faults(const std::string& faults) {
  return "ASAN_OPTIONS=\"$ASAN_OPTIONS:verify_asan_link_order=0\" MOTE_FAULTS='" + faults +
         "' LD_PRELOAD='" MOTE_FAULTS_LIBRARY "'";
}

/// "fsync:5" of "fsync" and EIO.
inline std::string fault(const std::string& call, int error) { return call + ":" + std::to_string(error); }

/// Further faults to try all others with: none, and no nameless files, so that outputs have temporary names.
inline std::vector<std::string> naming_faults() { return {"", " " + fault("open_nameless", EOPNOTSUPP)}; }

inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

}  // namespace mote::testing
