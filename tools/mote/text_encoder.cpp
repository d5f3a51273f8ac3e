// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/text_encoder.h"

#include <fstream>
#include <iostream>

#include "host/base/error.h"
#include "tools/mote/signals.h"
#include "tools/mote/text.h"

namespace mote::cli {

void TextEncoder::encode(const std::vector<EncodedText>& texts,
                         const std::function<void(size_t, uint32_t)>& use,
                         const std::vector<std::vector<uint32_t>>& rows) {
  const InterruptGuard guard;
  Relay relay;
  relay.check(encoder_.encode(texts, relay.hooks(), relay.wrap(use), rows));
}

void for_each_line(const std::string& path, const std::function<void(const std::string&)>& take) {
  std::ifstream file;
  if (path != "-") {
    refuse_directory(path);
    file.open(path, std::ios::binary);
    if (!file) convert::fail("cannot read {}: is it there, and may it be read?", path);
  }
  std::istream& in = path == "-" ? std::cin : file;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) take(line);
  }
}

}  // namespace mote::cli
