// SPDX-License-Identifier: Apache-2.0
//
// The task of a model, decided once for the file.
#pragma once

#include "converter/architectures/shared/transformer_spec.h"
#include "converter/tokenizers/tokenizer_spec.h"

namespace mote::convert {

/// Returns the thing that a model of this description is for.
Task task_of(const TransformerSpec& spec);

/// Gives the graph its task and the tokens that hosts need for it; `tokenizer` may be null.
void take_task(const TransformerSpec& spec, const TokenizerSpec* tokenizer, Graph& graph);

}  // namespace mote::convert
