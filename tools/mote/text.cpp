// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/text.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "host/base/error.h"

namespace mote::cli {

void refuse_directory(const std::string& path) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) convert::fail("cannot read {}: it is a directory", path);
}

std::string read_text(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  refuse_directory(path);
  std::ifstream in(std::filesystem::path(path), std::ios::binary);
  if (!in) convert::fail("cannot read {}: is it there, and may it be read?", path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) convert::fail("cannot read {}: reading failed", path);
  return text;
}

}  // namespace mote::cli
