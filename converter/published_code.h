// SPDX-License-Identifier: Apache-2.0
//
// Models that their authors publish with code of their own (auto_map): keys and names of weights of that code
// become those of the architecture that computes the same.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "converter/source.h"

namespace mote::convert {

/// The class that a config's auto_map names for the model, "NomicBertModel"; empty: there is none.
std::string published_class(const nlohmann::json& config);

/// Says whether the class is the one of transformers for the model_type: "Phi3ForCausalLM" for "phi3".
bool is_class_of(const std::string& published, const std::string& model_type);

/// Rewrites the config and the tensors' names of NomicBERT under GPT-2's names, of mGTE as "new", of
/// XLM-RoBERTa with flash attention (Jina Embeddings v3, Jina Reranker v2) and of JinaBERT (Jina Embeddings
/// v2). Others stay as they are. Throws Error for what these classes compute and the architecture does not.
void take_published_code(Source& source);

}  // namespace mote::convert
