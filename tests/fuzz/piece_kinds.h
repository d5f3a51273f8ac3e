// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>

namespace fuzz {

/// A directory with a tokenizer in files of their own: the model's type, the file that describes the pieces,
/// and a second one. Kept inputs mean what they do by this list's order.
struct PieceKind {
  const char *model_type, *file, *second;
};
inline constexpr PieceKind kPieceKinds[] = {
    {"llama", "tokenizer.model", nullptr},
    {"gemma", "tokenizer.model", nullptr},
    {"phi3", "tokenizer.model", nullptr},
    {"t5", "spiece.model", nullptr},
    {"mbart", "sentencepiece.bpe.model", nullptr},
    {"mbart50", "sentencepiece.bpe.model", nullptr},
    {"albert", "spiece.model", nullptr},
    {"xlnet", "spiece.model", nullptr},
    {"deberta-v2", "spm.model", nullptr},
    {"camembert", "sentencepiece.bpe.model", nullptr},
    {"xlm-roberta", "sentencepiece.bpe.model", nullptr},
    {"big_bird", "spiece.model", nullptr},
    {"mistral", "tekken.json", nullptr},
    {"llama", "tiktoken.model", nullptr},
    {"qwen", "qwen.tiktoken", nullptr},
    {"gpt2", "vocab.json", "merges.txt"},
    {"qwen2", "vocab.json", "merges.txt"},
    {"qwen3_5", "vocab.json", "merges.txt"},
    {"roberta", "vocab.json", "merges.txt"},
    {"clip", "vocab.json", "merges.txt"},
    {"whisper", "vocab.json", "merges.txt"},
    {"bert", "vocab.txt", nullptr},
    {"vits", "vocab.json", nullptr},
    {"marian", "source.spm", "vocab.json"},
    {"speech_to_text", "sentencepiece.bpe.model", "vocab.json"},
    {"m2m_100", "sentencepiece.bpe.model", "vocab.json"},
    {"bert", "tokenizer.json", nullptr},
    {"siglip", "spiece.model", nullptr},
};

}  // namespace fuzz
