// SPDX-License-Identifier: Apache-2.0
//
// Third-party files that are not part of the project. Tests that use one skip, with a message, where it is
// absent.
#pragma once

#include <cstdlib>
#include <filesystem>

#include "tests/support/skip.h"

namespace test {

/// A file below $MOTE_REALDATA or, without that, ../shared/realdata beside the project.
inline std::filesystem::path realdata(const char* name) {
  const char* folder = std::getenv("MOTE_REALDATA");
  const auto beside = std::filesystem::path(MOTE_SOURCE_DIR).parent_path() / "shared/realdata";
  return (folder != nullptr ? std::filesystem::path(folder) : beside) / name;
}

/// What scripts/get_model fetched.
inline std::filesystem::path fetched_model(const char* name) {
  return std::filesystem::path(MOTE_SOURCE_DIR) / "models/downloads" / name;
}

}  // namespace test

/// Ends the test where the file is absent.
#define SKIP_WITHOUT(path) \
  SKIP_UNLESS(std::filesystem::exists(path), (path).string() << " is not on this machine");
