// SPDX-License-Identifier: Apache-2.0
//
// SentencePiece's own files (.spm, .model), and the tokenizers that have nothing else beside a vocabulary.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "converter/tokenizers/side_files.h"
#include "converter/tokenizers/tokenizer_spec.h"

namespace mote::convert {

enum class PieceKind : uint32_t { normal = 1, unknown, control, user_defined, unused, byte };

struct Piece {
  std::string text;
  float score = 0;
  PieceKind kind = PieceKind::normal;
};

struct SentencePieceModel {
  enum Segmentation : uint32_t { unigram = 1, bpe = 2 };

  std::vector<Piece> pieces;
  uint64_t segmentation = unigram;
  bool spaces_behind = false;  // words have their space behind them
  bool byte_fallback = false;
  uint32_t unknown_id = 0;
  int32_t begin_id = 1, end_id = 2;  // -1: there is none
  std::string unknown_piece = "<unk>", begin_piece = "<s>", end_piece = "</s>";
  bool dummy_prefix = true, remove_extra_spaces = true, escape_spaces = true;
  std::string character_map;  // precompiled
  bool denormalizes = false;
};

/// Throws Error where the bytes are no such file; `where` names it.
SentencePieceModel read_sentence_piece(std::span<const std::byte> file, const std::string& where);

/// Makes a tokenizer cut texts as the model does. `ids` are the tokens by their texts; what of them is no
/// piece, and pieces that are no tokens, are unknown as SentencePiece has it.
void put_sentence_piece(const SentencePieceModel& model, const std::map<std::string, uint32_t>& ids,
                        TokenizerSpec& spec);

/// The tokenizer of a directory without tokenizer.json whose class, Marian's, M2M-100's or Speech2Text's, has
/// a SentencePiece model and a vocab.json; nothing if there is no such class or no such file. Throws Error.
std::optional<TokenizerSpec> read_numbered_pieces(const Source& source, const SideFiles& side,
                                                  DecoderNeed need);

/// Reads, as the function above does, a class that transformers makes of the SentencePiece model alone: T5's,
/// mBART's or mBART-50's.
std::optional<TokenizerSpec> read_converted_pieces(const Source& source, const SideFiles& side,
                                                   DecoderNeed need);

}  // namespace mote::convert
