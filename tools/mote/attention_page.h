// SPDX-License-Identifier: Apache-2.0
//
// mote inspect --attention: the attention maps of a text, as a page.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/mote/session.h"

namespace mote::cli {

/// {"tokens": [T] texts, "maps": [operation][head][query] probabilities of the keys from position 0 on},
/// computed by the reference kernels. Throws convert::Error for a model without attention or tokenizer.
nlohmann::json attention_maps(const ModelFile& file, const ThreadPool& pool, const std::string& text);

std::string attention_page(const std::string& title, const nlohmann::json& maps);

}  // namespace mote::cli
