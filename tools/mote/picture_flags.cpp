// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/picture_flags.h"

#include <regex>

#include "tools/mote/usage.h"

namespace mote::cli {

void add_picture_size(Command& command, std::string& size) {
  command
      .option(
          "--size", &size,
          "The sides that pictures become, for a file of any size: WIDTHxHEIGHT, longest=N, shortest=N or "
          "own (default: as the file says)")
      .type("SIZE");
}

void check_picture_size(const std::string& size) {
  static const std::regex kSize("[1-9][0-9]{0,4}x[1-9][0-9]{0,4}|(longest|shortest)=[1-9][0-9]{0,4}|own");
  if (!size.empty() && !std::regex_match(size, kSize))
    usage_fail("--size {}: give WIDTHxHEIGHT, longest=N, shortest=N or own", size);
}

}  // namespace mote::cli
