// SPDX-License-Identifier: Apache-2.0
//
// Tokenizers of directories without a tokenizer.json, each read as the one that transformers 5 makes of the
// same files. All return nothing where the directory has no such file or its class is another one, and throw
// Error for what they do not understand.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "converter/source.h"
#include "converter/tokenizers/side_files.h"
#include "converter/tokenizers/tokenizer_spec.h"

namespace mote::convert {

/// A SentencePiece model of an encoder: ALBERT's, XLNet's, DeBERTa-v2's, CamemBERT's, XLM-RoBERTa's,
/// BigBird's.
std::optional<TokenizerSpec> read_encoder_pieces(const Source& source, const SideFiles& side,
                                                 DecoderNeed need);

/// SigLIP's SentencePiece model.
std::optional<TokenizerSpec> read_siglip_pieces(const Source& source, const SideFiles& side,
                                                DecoderNeed need);

/// A SentencePiece model whose pieces are merged (tokenizer.model): Llama's, Gemma's, or one without a class.
std::optional<TokenizerSpec> read_merged_pieces(const Source& source, const SideFiles& side,
                                                DecoderNeed need);

/// A vocab.json with a merges.txt: GPT-2's, Qwen's, RoBERTa's, BART's, CLIP's, Whisper's.
std::optional<TokenizerSpec> read_listed_merges(const Source& source, const SideFiles& side,
                                                DecoderNeed need);

/// Bytes by rank: tekken.json, or tiktoken's lines of base64.
std::optional<TokenizerSpec> read_ranked_bytes(const Source& source, const SideFiles& side, DecoderNeed need);

/// Says whether the file of a tokenizer.model, or one of another name, holds tiktoken's lines.
bool has_ranked_lines(const std::filesystem::path& path);
/// The directory's file of tiktoken's lines; empty: there is none.
std::filesystem::path find_ranked_lines(const std::filesystem::path& directory);

/// The post-processor of a text between a sign that begins it and one that ends it, either of which may be
/// missing; a second text has its own.
nlohmann::json begin_and_end_json(const std::string& begin, const std::string& end,
                                  const std::function<uint32_t(const std::string&)>& id_of);

}  // namespace mote::convert
