// SPDX-License-Identifier: Apache-2.0
//
// SigLIP's tokenizer (Zhai et al. 2023): texts lose their capitals and ASCII's punctuation and get a sign for
// a space in front, then the SentencePiece library cuts them.
#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/piece_files.h"
#include "converter/tokenizers/sentence_piece.h"
#include "converter/tokenizers/tokenizer_json.h"
#include "converter/tokenizers/unicode_data.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char kFile[] = "spiece.model";
constexpr size_t kLongestSign = 64;

/// Returns the characters that Python takes for white space.
CharSet python_spaces() {
  CharSet spaces;
  spaces.add(0x09, 0x0D).add(0x1C, 0x20).add(0x85, 0x85).add(0xA0, 0xA0).add(0x1680, 0x1680);
  return spaces.add(0x2000, 0x200A)
      .add(0x2028, 0x2029)
      .add(0x202F, 0x202F)
      .add(0x205F, 0x205F)
      .add(0x3000, 0x3000);
}

CharSet ascii_punctuation() {
  CharSet signs;
  return signs.add(0x21, 0x2F).add(0x3A, 0x40).add(0x5B, 0x60).add(0x7B, 0x7E);
}

/// The best sum of scores of a text of ASCII behind the space that the model puts in front, in floats as the
/// SentencePiece library adds them.
float best_sum(const SentencePieceModel& model, const std::string& text, float unknown) {
  std::map<std::string_view, float> scores;
  for (const Piece& piece : model.pieces) {
    if (piece.kind == PieceKind::normal) scores.emplace(piece.text, piece.score);
  }
  const std::string all = (model.dummy_prefix ? kSpaceSign : "") + text;
  const size_t first = model.dummy_prefix ? std::string_view(kSpaceSign).size() : 1;
  std::vector<float> best(all.size() + 1, -std::numeric_limits<float>::infinity());
  best[0] = 0.0f;
  for (size_t at = 0; at < all.size(); at += at == 0 ? first : 1) {
    const size_t next = at + (at == 0 ? first : 1);
    if (scores.count(std::string_view(all).substr(at, next - at)) == 0)
      best[next] = std::max(best[next], best[at] + unknown);
    for (size_t to = next; to <= all.size(); ++to) {
      const auto piece = scores.find(std::string_view(all).substr(at, to - at));
      if (piece != scores.end()) best[to] = std::max(best[to], best[at] + piece->second);
    }
  }
  return best.back();
}

class SiglipPieces {
 public:
  SiglipPieces(const Source& source, const SideFiles& side)
      : side_(side),
        path_((source.text_files() / kFile).string()),
        values_(path_),
        settings_(side.config_path()) {}

  TokenizerSpec read(DecoderNeed need) {
    const MappedFile file(path_);
    model_ = read_sentence_piece(file.bytes(), path_);
    check_model();
    json root = as_json();
    side_.apply(root, path_);
    TokenizerSpec spec = read_tokenizer_json(root, path_, need);
    put_sentence_piece(model_, ids_, spec);
    put_normalizers(spec);
    const std::string unknown = side_.named_token("unk_token", "<unk>");
    if (unknown.size() > kLongestSign) values_.refuse("unk_token has more than {} bytes", kLongestSign);
    // The original cuts this sign and the text as one and leaves out what came of the sign.
    spec.sentence_piece->start = best_sum(model_, unknown, static_cast<float>(spec.unknown_score));
    spec.piece_prefix = kSpaceSign;
    spec.piece_prefix_rule = PrefixSpec::first_segment;
    return spec;
  }

 private:
  void check_model() const {
    if (model_.segmentation != SentencePieceModel::unigram)
      values_.refuse("segmentation {} is not supported for SiglipTokenizer, only unigram (1)",
                     model_.segmentation);
    if (model_.spaces_behind || model_.byte_fallback || !model_.escape_spaces || model_.denormalizes ||
        !model_.remove_extra_spaces)
      values_.refuse(
          "spaces behind words, left as they are or not made one, pieces for bytes and denormalizers are not "
          "supported for SiglipTokenizer");
    for (const Piece& piece : model_.pieces) {
      if (piece.kind == PieceKind::user_defined)
        values_.refuse("the user-defined piece '{}' is not supported", shown(piece.text));
    }
    if (const json* options = settings_.find(side_.config(), "sp_model_kwargs");
        options != nullptr && !options->empty())
      settings_.refuse("sp_model_kwargs are not supported");
  }

  uint32_t id_of(const std::string& token) const {
    const auto found = ids_.find(token);
    if (found == ids_.end()) values_.refuse("it has no '{}'", shown(token));
    return found->second;
  }

  json as_json() {
    json vocabulary = json::array(), added = json::array();
    for (const Piece& piece : model_.pieces) {
      ids_.emplace(piece.text, static_cast<uint32_t>(vocabulary.size()));
      vocabulary.push_back({piece.text, double{piece.score}});
    }
    const std::string end = side_.named_token("eos_token", "</s>");
    const std::string unknown = side_.named_token("unk_token", "<unk>"),
                      pad = side_.named_token("pad_token", "</s>");
    std::set<std::string> known;
    for (const std::string& token : {end, unknown, pad}) {
      if (!known.insert(token).second) continue;
      added.push_back({{"id", id_of(token)},
                       {"content", token},
                       {"special", true},
                       {"normalized", false},
                       {"lstrip", true},
                       {"rstrip", true}});
    }
    const json sign = {{"type", "Metaspace"}, {"replacement", kSpaceSign}, {"prepend_scheme", "always"}};
    return {{"added_tokens", added},
            {"model", {{"type", "Unigram"}, {"unk_id", model_.unknown_id}, {"vocab", vocabulary}}},
            {"post_processor",
             template_json({{}, {end}, {end}}, [&](const std::string& token) { return id_of(token); })},
            {"decoder", sign}};
  }

  void put_normalizers(TokenizerSpec& spec) const {
    CharacterMap plain;
    plain.set(python_spaces(), U" ").set(CharSet::of(0x2581), U" ").set(ascii_punctuation(), U"");
    std::vector<NormalizerSpec> steps;
    if (settings_.flag(side_.config(), "do_lower_case", true))
      add_map(steps, CharacterMap().set_each(lower_case));
    add_map(steps, plain);
    steps.push_back(sentence_piece_map(model_.character_map, false));
    steps.push_back({NormalizerKind::replace, {}, {}, parse_regex(" {2,}"), U" "});
    NormalizerSpec strip{NormalizerKind::strip, {}, {}, {}, {}};
    strip.right = true;  // the sign in front keeps a space that begins a text
    steps.push_back(strip);
    spec.normalizers = std::move(steps);
  }

  const SideFiles& side_;
  std::string path_;
  JsonValues values_, settings_;
  SentencePieceModel model_;
  std::map<std::string, uint32_t> ids_;
};

}  // namespace

std::optional<TokenizerSpec> read_siglip_pieces(const Source& source, const SideFiles& side,
                                                DecoderNeed need) {
  std::error_code ignored;
  if (!side.is_class("SiglipTokenizer", " siglip ") || !fs::exists(source.text_files() / kFile, ignored))
    return std::nullopt;
  return SiglipPieces(source, side).read(need);
}

}  // namespace mote::convert
