// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/picture_flags.h"

#include <cstdint>
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

constexpr uint32_t kMostSide = 1 << 16;

void check_picture_size(const std::string& size) {
  static const std::regex kSize("[1-9][0-9]{0,4}x[1-9][0-9]{0,4}|(longest|shortest)=[1-9][0-9]{0,4}|own");
  static const std::regex kNumber("[0-9]+");
  bool fits = size.empty() || std::regex_match(size, kSize);
  for (std::sregex_iterator at(size.begin(), size.end(), kNumber), end; fits && at != end; ++at)
    fits = std::stoul(at->str()) <= kMostSide;
  if (!fits)
    usage_fail("--size {}: give WIDTHxHEIGHT, longest=N, shortest=N or own, of 1 to {} pixels", size,
               kMostSide);
}

}  // namespace mote::cli
