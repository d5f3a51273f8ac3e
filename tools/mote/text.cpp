// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/text.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "host/base/error.h"
#include "host/tasks/text.h"
#include "tools/mote/output.h"

namespace mote::cli {

void refuse_directory(const std::string& path) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) convert::fail("cannot read {}: it is a directory", path);
}

void require_tokenizer(const ModelFile& file, const char* instead) {
  if (file.info().tokens == 0) {
    convert::fail("{} has no tokenizer, so it cannot read a text; {}", file.path(), instead);
  }
}

std::vector<int32_t> tokenize(const ModelFile& file, const Session& session, std::string_view text,
                              uint32_t flags) {
  return take(host::tokenize(file.host(), session, text, flags));
}

std::string text_of_ids(const ModelFile& file, std::span<const int32_t> ids, uint32_t flags) {
  return take(host::text_of_ids(file.host(), ids, flags));
}

std::string read_text(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  refuse_directory(path);
  std::ifstream in(path, std::ios::binary);
  if (!in) convert::fail("cannot read {}: is it there, and may it be read?", path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) convert::fail("cannot read {}: reading failed", path);
  return text;
}

}  // namespace mote::cli
