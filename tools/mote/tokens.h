// SPDX-License-Identifier: Apache-2.0
//
// Texts and token ids of a model's file, whose failures are exceptions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/mote/session.h"

namespace mote::cli {

/// Throws convert::Error where the file has no tokenizer; `instead` says what to do then.
void require_tokenizer(const ModelFile& file, const char* instead);

/// Ids of a text; `flags` of mote_tokenize. Throws convert::Error.
std::vector<int32_t> tokenize(const ModelFile& file, const Session& session, std::string_view text,
                              uint32_t flags);

/// The text of ids; `flags` of mote_detokenizer_start. Throws convert::Error.
std::string text_of_ids(const ModelFile& file, std::span<const int32_t> ids, uint32_t flags);

/// Throws convert::Error unless each is below the model's vocabulary.
void check_ids(const std::vector<int32_t>& ids, const ModelFile& file, const std::string& what);

}  // namespace mote::cli
