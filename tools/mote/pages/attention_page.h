// SPDX-License-Identifier: Apache-2.0
//
// mote inspect --attention: the attention maps of a text, as a page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/mote/session.h"

namespace mote::cli {

/// {"parts": [{"name", "rows", "columns", "maps"}]}: `rows` are the texts of the tokens that ask, `columns`
/// of those that are asked, "maps" [operation][head][row] the probabilities of columns from the first on,
/// computed by the reference kernels. An encoder-decoder has the parts "encoder", "decoder" and "cross", over
/// what it generates greedily. Throws convert::Error for a model without attention or tokenizer.
nlohmann::json attention_maps(const ModelFile& file, const ThreadPool& pool, const std::string& text);

std::string attention_page(const std::string& title, const nlohmann::json& maps);

}  // namespace mote::cli
