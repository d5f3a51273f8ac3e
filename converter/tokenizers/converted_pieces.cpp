// SPDX-License-Identifier: Apache-2.0
//
// Tokenizers that transformers makes of a SentencePiece model alone (T5, mBART, mBART-50): Unigram over its
// pieces, as Hugging Face's tokenizers run it. Read as the tokenizer.json that they would save.
#include <map>
#include <set>

#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/sentence_piece.h"
#include "converter/tokenizers/tokenizer_json.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

enum class PieceOrder { t5, mbart, mbart50 };

struct ConvertedClass {
  const char *name, *model_types, *file;
  PieceOrder order;
};
constexpr ConvertedClass kConvertedClasses[] = {
    {"T5Tokenizer", " t5 mt5 ", "spiece.model", PieceOrder::t5},
    {"MBartTokenizer", " mbart ", "sentencepiece.bpe.model", PieceOrder::mbart},
    {"MBart50Tokenizer", " mbart50 ", "sentencepiece.bpe.model", PieceOrder::mbart50},
};

constexpr const char* kMbartLanguages[] = {
    "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN", "hi_IN", "it_IT",
    "ja_XX", "kk_KZ", "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP", "nl_XX", "ro_RO", "ru_RU", "si_LK",
    "tr_TR", "vi_VN", "zh_CN", "af_ZA", "az_AZ", "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID", "ka_GE",
    "km_KH", "mk_MK", "ml_IN", "mn_MN", "mr_IN", "pl_PL", "ps_AF", "pt_XX", "sv_SE", "sw_KE", "ta_IN",
    "te_IN", "th_TH", "tl_XX", "uk_UA", "ur_PK", "xh_ZA", "gl_ES", "sl_SI"};
constexpr size_t kFirstMbartLanguages = 25;  // of mBART; mBART-50 has all
constexpr uint32_t kMostExtraIds = 1000;

class ConvertedPieces {
 public:
  ConvertedPieces(const ConvertedClass& own, const Source& source, const SideFiles& side)
      : own_(own),
        side_(side),
        path_((source.text_files() / own.file).string()),
        values_(path_),
        settings_(side.config_path()) {}

  TokenizerSpec read(DecoderNeed need) {
    const MappedFile file(path_);
    model_ = read_sentence_piece(file.bytes(), path_);
    if (model_.segmentation != SentencePieceModel::unigram)
      values_.refuse("segmentation {} is not supported, only unigram (1)", model_.segmentation);
    if (model_.pieces.size() < kReserved) values_.refuse("{} pieces are too few", model_.pieces.size());
    if (own_.order == PieceOrder::t5) {
      list_t5();
    } else {
      list_mbart();
    }
    json root = as_json();
    side_.apply(root, path_);
    TokenizerSpec spec = read_tokenizer_json(root, path_, need);
    if (own_.order != PieceOrder::mbart && !model_.character_map.empty())
      spec.normalizers.insert(spec.normalizers.begin(), precompiled_map(model_.character_map));
    return spec;
  }

 private:
  static constexpr size_t kReserved = 3;  // pieces that are signs

  void put(const std::string& token, double score, bool special) {
    if (special) special_.push_back(token);
    ids_[token] = static_cast<uint32_t>(vocabulary_.size());  // of a token given twice the last counts
    vocabulary_.push_back({token, score});
  }

  void put_pieces(size_t first) {
    for (size_t i = first; i < model_.pieces.size(); ++i) {
      const Piece& piece = model_.pieces[i];
      if (piece.kind == PieceKind::user_defined)
        values_.refuse("the user-defined piece '{}' is not supported", shown(piece.text));
      put(piece.text, double{piece.score}, piece.kind == PieceKind::control);
    }
  }

  void list_t5() {
    put_pieces(0);
    const uint32_t extra = settings_.number(side_.config(), "extra_ids", 100);
    if (extra > kMostExtraIds) settings_.refuse("extra_ids {} are too many", extra);
    for (uint32_t i = extra; i-- > 0;) put("<extra_id_" + std::to_string(i) + ">", 0.0, true);
    unknown_ = kReserved - 1;
    after_ = {side_.named_token("eos_token", "</s>")};
    between_ = after_;
    for (const auto& [key, otherwise] : {std::pair("unk_token", "<unk>"), std::pair("pad_token", "<pad>")})
      special_.push_back(side_.named_token(key, otherwise));
  }

  void list_mbart() {
    const std::string end = side_.named_token("eos_token", "</s>");
    put(side_.named_token(own_.order == PieceOrder::mbart ? "bos_token" : "cls_token", "<s>"), 0.0, true);
    put(side_.named_token("pad_token", "<pad>"), 0.0, true);
    put(end, 0.0, true);
    unknown_ = static_cast<uint32_t>(vocabulary_.size());
    put(side_.named_token("unk_token", "<unk>"), 0.0, true);
    put_pieces(kReserved);
    const size_t languages =
        own_.order == PieceOrder::mbart ? kFirstMbartLanguages : std::size(kMbartLanguages);
    for (size_t i = 0; i < languages; ++i) put(kMbartLanguages[i], 0.0, true);
    mask_ = side_.named_token("mask_token", "<mask>");
    put(mask_, 0.0, true);
    const std::string language = settings_.text(side_.config(), "src_lang", "en_XX");
    after_ = {end};
    (own_.order == PieceOrder::mbart ? after_ : before_).push_back(language);
  }

  uint32_t id_of(const std::string& token) const {
    const auto found = ids_.find(token);
    if (found != ids_.end()) return found->second;
    values_.refuse("it has no '{}'", shown(token));
  }

  json as_json() const {
    json added = json::array();
    std::set<std::string> known;
    for (const std::string& token : special_) {
      if (!known.insert(token).second) continue;
      added.push_back({{"id", id_of(token)},
                       {"content", token},
                       {"special", true},
                       {"normalized", false},
                       {"lstrip", token == mask_}});
    }
    const json sign = {
        {"type", "Metaspace"}, {"replacement", kSpaceSign}, {"prepend_scheme", "always"}, {"split", true}};
    json cutting = json::array(), normalizer;
    if (own_.order == PieceOrder::mbart50) {
      normalizer = {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}};
    } else {
      cutting.push_back({{"type", "WhitespaceSplit"}});
    }
    cutting.push_back(sign);
    return {{"added_tokens", added},
            {"normalizer", normalizer},
            {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", cutting}}},
            {"model", {{"type", "Unigram"}, {"unk_id", unknown_}, {"vocab", vocabulary_}}},
            {"post_processor", template_json({before_, between_, after_},
                                             [&](const std::string& token) { return id_of(token); })},
            {"decoder", sign}};
  }

  const ConvertedClass& own_;
  const SideFiles& side_;
  std::string path_;
  JsonValues values_, settings_;
  SentencePieceModel model_;
  std::vector<json> vocabulary_;
  std::map<std::string, uint32_t> ids_;
  std::vector<std::string> special_, before_, between_, after_;
  std::string mask_;
  uint32_t unknown_ = 0;
};

}  // namespace

std::optional<TokenizerSpec> read_converted_pieces(const Source& source, const SideFiles& side,
                                                   DecoderNeed need) {
  std::error_code ignored;
  for (const ConvertedClass& own : kConvertedClasses) {
    if (side.is_class(own.name, own.model_types) && fs::exists(source.text_files() / own.file, ignored))
      return ConvertedPieces(own, source, side).read(need);
  }
  return std::nullopt;
}

}  // namespace mote::convert
