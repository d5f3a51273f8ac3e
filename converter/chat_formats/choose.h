// SPDX-License-Identifier: Apache-2.0
//
// Chooses what a file keeps of a model's chat template: the pieces of a format, and the template itself.
#pragma once

#include "converter/architectures/shared/transformer_spec.h"
#include "converter/chat_formats/understand.h"
#include "converter/convert.h"
#include "converter/metadata.h"
#include "converter/source.h"
#include "converter/tokenizers/tokenizer_spec.h"

namespace mote::convert {

/// Returns the format of conversations and sets the text that a question with pictures begins with. A tower
/// of pictures has no format.
UnderstoodTemplate choose_chat_pieces(const ConvertOptions& options, Source& source,
                                      const TokenizerSpec* tokenizer, Graph& graph);

/// Keeps the template's own text where the user chose no format in its place and it can be run; a file for
/// firmware keeps the pieces alone.
void keep_chat_template(const ConvertOptions& options, const Source& source, const TransformerSpec& spec,
                        const TokenizerSpec* tokenizer, Metadata& metadata);

}  // namespace mote::convert
