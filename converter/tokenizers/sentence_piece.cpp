// SPDX-License-Identifier: Apache-2.0
//
// Field numbers are those of sentencepiece_model.proto, the format's own description.
#include "converter/tokenizers/sentence_piece.h"

#include <algorithm>
#include <limits>

#include "converter/readers/wire.h"
#include "host/base/error.h"

namespace mote::convert {
namespace {

constexpr const char* kKind = "SentencePiece model";
constexpr size_t kMostPieces = 1u << 20;
constexpr float kUnknownPenalty = 10;

Piece read_piece(const WireField& entry, const std::string& where) {
  Piece piece;
  WireMessage(entry.bytes, where, kKind).each([&](const WireField& field) {
    if (field.number == 1 && field.wire == 2) piece.text = field.text();
    if (field.number == 2 && field.wire == 5) piece.score = load<float>(field.bytes.data());
    if (field.number == 3 && field.wire == 0) {
      if (field.value < 1 || field.value > 6) fail("{}: a piece of an unknown kind", where);
      piece.kind = static_cast<PieceKind>(field.value);
    }
  });
  return piece;
}

void read_trainer(const WireField& entry, const std::string& where, SentencePieceModel& model) {
  WireMessage(entry.bytes, where, kKind).each([&](const WireField& field) {
    if (field.wire == 2) {
      if (field.number == 45) model.unknown_piece = field.text();
      if (field.number == 46) model.begin_piece = field.text();
      if (field.number == 47) model.end_piece = field.text();
    }
    if (field.wire != 0) return;
    if (field.number == 40) model.unknown_id = static_cast<uint32_t>(field.value);
    if (field.number == 41) model.begin_id = static_cast<int32_t>(field.value);
    if (field.number == 42) model.end_id = static_cast<int32_t>(field.value);
    if (field.number == 3) model.segmentation = field.value;
    if (field.number == 24) model.spaces_behind = field.value != 0;
    if (field.number == 35) model.byte_fallback = field.value != 0;
  });
}

void read_normalizer(const WireField& entry, const std::string& where, SentencePieceModel& model) {
  WireMessage(entry.bytes, where, kKind).each([&](const WireField& field) {
    if (field.number == 2 && field.wire == 2) model.character_map = field.text();
    if (field.wire != 0) return;
    if (field.number == 3) model.dummy_prefix = field.value != 0;
    if (field.number == 4) model.remove_extra_spaces = field.value != 0;
    if (field.number == 5) model.escape_spaces = field.value != 0;
  });
}

}  // namespace

SentencePieceModel read_sentence_piece(std::span<const std::byte> file, const std::string& where) {
  SentencePieceModel model;
  WireMessage(file, where, kKind).each([&](const WireField& field) {
    if (field.wire != 2) return;
    if (field.number == 1) {
      if (model.pieces.size() == kMostPieces) fail("{} has more than {} pieces", where, kMostPieces);
      model.pieces.push_back(read_piece(field, where));
    }
    if (field.number == 2) read_trainer(field, where, model);
    if (field.number == 3) read_normalizer(field, where, model);
    if (field.number == 5) {
      SentencePieceModel other;
      read_normalizer(field, where, other);
      model.denormalizes = !other.character_map.empty();
    }
  });
  if (model.pieces.empty()) fail("{} has no pieces: is it a SentencePiece model?", where);
  return model;
}

void put_sentence_piece(const SentencePieceModel& model, const std::map<std::string, uint32_t>& ids,
                        TokenizerSpec& spec) {
  spec.model = ModelSpec::unigram;
  spec.fuse_unknown = true;
  SentencePieceSpec& own = spec.sentence_piece.emplace();
  spec.pieces.clear();
  spec.scores.assign(spec.tokens.size(), 0.0);
  own.unknown_pieces = ids;
  own.unknown_pieces.erase("");  // no characters are that
  float least = std::numeric_limits<float>::max();
  for (const Piece& piece : model.pieces) {
    if (piece.kind != PieceKind::normal || piece.text.empty()) continue;
    least = std::min(least, piece.score);
    own.unknown_pieces.erase(piece.text);
    const auto found = ids.find(piece.text);
    if (found == ids.end()) {
      own.foreign.emplace_back(piece.text, piece.score);
    } else {
      spec.pieces[piece.text] = found->second;
      spec.scores[found->second] = double{piece.score};
    }
  }
  spec.unknown_score = double{least - kUnknownPenalty};
  spec.normalizers = {sentence_piece_map(model.character_map, model.remove_extra_spaces)};
  spec.replacements = {{" ", kSpaceSign}};
  if (!model.dummy_prefix) return;
  spec.piece_prefix = kSpaceSign;
  spec.piece_prefix_rule = PrefixSpec::always;
}

}  // namespace mote::convert
