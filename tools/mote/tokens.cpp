// SPDX-License-Identifier: Apache-2.0
#include "tools/mote/tokens.h"

#include "host/base/error.h"
#include "host/tasks/text.h"

namespace mote::cli {

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

void check_ids(const std::vector<int32_t>& ids, const ModelFile& file, const std::string& what) {
  check(host::check_ids(file.host(), ids, what));
}

}  // namespace mote::cli
