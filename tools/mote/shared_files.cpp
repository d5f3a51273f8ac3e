// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/shared_files.h"

#include <filesystem>
#include <system_error>

#include "host/base/error.h"
#include "tools/mote/system.h"

namespace mote::cli {

std::string shared_file(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path folder = own_program().parent_path();
  const fs::path installed = folder.parent_path() / "share/mote" / name;
  const fs::path built = folder / "share/mote" / name;
  for (const fs::path& place : {installed, built}) {
    if (fs::exists(place, none)) return fs::path(place).make_preferred().string();
  }
  convert::fail("{} is not there; it comes with mote's archive, wheel and packages", installed.string());
}

}  // namespace mote::cli
