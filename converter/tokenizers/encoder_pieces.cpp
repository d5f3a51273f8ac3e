// SPDX-License-Identifier: Apache-2.0
//
// Tokenizers that transformers makes of an encoder's SentencePiece model: Unigram over its pieces, which
// Hugging Face's tokenizers run, so what the model itself says of normalization counts only where the class
// takes it.
#include <array>
#include <map>
#include <set>

#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/piece_files.h"
#include "converter/tokenizers/sentence_piece.h"
#include "converter/tokenizers/tokenizer_json.h"
#include "host/base/base64.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

enum class EncoderKind { albert, xlnet, deberta, camembert, xlm_roberta, big_bird };

/// Special tokens by name, in the order in which those that are no pieces get ids.
constexpr std::array<const char*, 7> kSignNames = {"bos_token", "eos_token", "unk_token", "sep_token",
                                                   "pad_token", "cls_token", "mask_token"};

struct EncoderClass {
  const char *name, *model_types, *file;
  EncoderKind kind;
  std::array<const char*, kSignNames.size()> signs;
};
constexpr EncoderClass kEncoderClasses[] = {
    {"AlbertTokenizer",
     " albert ",
     "spiece.model",
     EncoderKind::albert,
     {"[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]"}},
    {"XLNetTokenizer",
     " xlnet ",
     "spiece.model",
     EncoderKind::xlnet,
     {"<s>", "</s>", "<unk>", "<sep>", "<pad>", "<cls>", "<mask>"}},
    {"DebertaV2Tokenizer",
     " deberta-v2 ",
     "spm.model",
     EncoderKind::deberta,
     {"[CLS]", "[SEP]", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"}},
    {"CamembertTokenizer",
     " camembert ",
     "sentencepiece.bpe.model",
     EncoderKind::camembert,
     {"<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"}},
    {"XLMRobertaTokenizer",
     " xlm-roberta gte jina_embeddings_v3 ",
     "sentencepiece.bpe.model",
     EncoderKind::xlm_roberta,
     {"<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"}},
    {"BigBirdTokenizer",
     " big_bird ",
     "spiece.model",
     EncoderKind::big_bird,
     {"<s>", "</s>", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]"}},
};

json replace_json(const char* kind, const char* from, const char* to) {
  return {{"type", "Replace"}, {"pattern", {{kind, from}}}, {"content", to}};
}

class EncoderPieces {
 public:
  EncoderPieces(const EncoderClass& own, const Source& source, const SideFiles& side)
      : own_(own),
        side_(side),
        path_((source.text_files() / own.file).string()),
        values_(path_),
        settings_(side.config_path()) {}

  TokenizerSpec read(DecoderNeed need) {
    const MappedFile file(path_);
    model_ = read_sentence_piece(file.bytes(), path_);
    if (model_.segmentation != SentencePieceModel::unigram)
      values_.refuse("segmentation {} is not supported for {}, only unigram (1)", model_.segmentation,
                     own_.name);
    for (size_t i = 0; i < kSignNames.size(); ++i)
      signs_[kSignNames[i]] = side_.named_token(kSignNames[i], own_.signs[i]);
    list_pieces();
    find_unknown();
    add_signs();
    json root = as_json();
    side_.apply(root, path_);
    return read_tokenizer_json(root, path_, need);
  }

 private:
  void put(const std::string& token, double score) {
    ids_.emplace(token, static_cast<uint32_t>(vocabulary_.size()));
    vocabulary_.push_back({token, score});
  }

  void put_pieces(size_t first) {
    if (model_.pieces.size() < first) values_.refuse("{} pieces are too few", model_.pieces.size());
    for (size_t i = first; i < model_.pieces.size(); ++i) {
      const Piece& piece = model_.pieces[i];
      put(piece.text, double{piece.score});
      if (piece.kind == PieceKind::control || piece.kind == PieceKind::user_defined)
        add(piece.text, piece.kind == PieceKind::control);
    }
  }

  void list_pieces() {
    constexpr double kNeverUsed = -100;
    if (own_.kind == EncoderKind::camembert) {
      put("<s>NOTUSED", 0);
      put(signs_["pad_token"], 0);
      put("</s>NOTUSED", 0);
      put(signs_["unk_token"], 0);
      put("<unk>NOTUSED", kNeverUsed);
      for (const char* sign : {"<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"}) add(sign, true);
      put_pieces(1);
      put(signs_["mask_token"], 0);
    } else if (own_.kind == EncoderKind::xlm_roberta) {
      for (const char* sign : {"bos_token", "pad_token", "eos_token", "unk_token"}) put(signs_[sign], 0);
      put_pieces(3);
      put(signs_["mask_token"], 0);
    } else {
      put_pieces(0);
    }
  }

  /// Which piece stands for what is none, as each class has it.
  void find_unknown() {
    constexpr uint32_t kAlbert = 1, kXlmRoberta = 3, kBigBird = 100;
    const auto found = ids_.find(signs_["unk_token"]);
    const bool listed = found != ids_.end() && vocabulary_[found->second][1] == 0.0;
    switch (own_.kind) {
      case EncoderKind::albert:
        unknown_ = kAlbert;
        break;
      case EncoderKind::xlm_roberta:
        unknown_ = kXlmRoberta;
        break;
      case EncoderKind::camembert:
        unknown_ = found == ids_.end() ? 0 : found->second;
        break;
      case EncoderKind::xlnet:
        unknown_ = model_.unknown_id;
        break;
      case EncoderKind::deberta:
        unknown_ = listed ? found->second : model_.unknown_id;
        break;
      case EncoderKind::big_bird:
        unknown_ = listed ? found->second : kBigBird;
        break;
    }
    if (unknown_ >= vocabulary_.size()) values_.refuse("the unknown piece {} is none", unknown_);
  }

  void add(const std::string& token, bool special) {
    if (token.empty() || !known_.insert(token).second) return;
    added_.emplace_back(token, special);
  }

  /// Those that are no pieces follow them.
  void add_signs() {
    // A mask that is a piece keeps the space before it.
    strips_mask_ = known_.count(signs_["mask_token"]) == 0 && own_.kind != EncoderKind::albert &&
                   own_.kind != EncoderKind::deberta;
    for (const char* name : kSignNames) {
      const std::string& token = signs_[name];
      if (token.empty()) continue;
      if (ids_.count(token) == 0) put(token, 0);
      add(token, true);
    }
    if (own_.kind != EncoderKind::xlnet) return;
    for (const char* sign : {"<eop>", "<eod>"}) {
      if (ids_.count(sign) != 0) add(sign, true);
    }
  }

  json added_json() const {
    json added = json::array();
    for (const auto& [token, special] : added_) {
      added.push_back({{"id", ids_.at(token)},
                       {"content", token},
                       {"special", special},
                       {"normalized", false},
                       {"lstrip", strips_mask_ && token == signs_.at("mask_token")}});
    }
    return added;
  }

  void add_map_json(json& steps) const {
    if (model_.character_map.empty()) return;
    const auto bytes = std::as_bytes(std::span(model_.character_map));
    steps.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", to_base64(bytes)}});
  }

  json normalizer_json() const {
    const json& config = side_.config();
    json steps = json::array();
    if (own_.kind == EncoderKind::albert || own_.kind == EncoderKind::xlnet) {
      const bool is_albert = own_.kind == EncoderKind::albert;
      steps.push_back(replace_json("String", "``", "\""));
      steps.push_back(replace_json("String", "''", "\""));
      if (!is_albert || !settings_.flag(config, "keep_accents", false)) {
        steps.push_back({{"type", "NFKD"}});
        steps.push_back({{"type", "StripAccents"}});
      }
      if (settings_.flag(config, "do_lower_case", is_albert)) steps.push_back({{"type", "Lowercase"}});
      add_map_json(steps);
    } else if (own_.kind == EncoderKind::deberta) {
      if (settings_.flag(config, "do_lower_case", false)) steps.push_back({{"type", "Lowercase"}});
      steps.push_back(replace_json("Regex", "\\s{2,}|[\\n\\r\\t]", " "));
      steps.push_back({{"type", "NFC"}});
      steps.push_back({{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}});
    } else if (own_.kind == EncoderKind::big_bird) {
      steps.push_back(replace_json("Regex", " {2,}", kSpaceSign));
    } else {
      add_map_json(steps);
    }
    return {{"type", "Sequence"}, {"normalizers", steps}};
  }

  json sign_json() const {
    const bool prefix = settings_.flag(side_.config(), "add_prefix_space", true);
    const char* const otherwise = own_.kind == EncoderKind::deberta ? "first" : "never";
    const bool always = prefix || own_.kind == EncoderKind::xlnet;
    return {{"type", "Metaspace"},
            {"replacement", kSpaceSign},
            {"prepend_scheme", always ? "always" : otherwise},
            {"split", true}};
  }

  json pre_tokenizer_json() const {
    json steps = json::array();
    if (own_.kind == EncoderKind::deberta) {
      if (settings_.flag(side_.config(), "split_by_punct", false))
        steps.push_back({{"type", "Punctuation"}, {"behavior", "Isolated"}});
    } else if (own_.kind != EncoderKind::big_bird) {
      steps.push_back({{"type", "WhitespaceSplit"}});
    }
    steps.push_back(sign_json());
    return {{"type", "Sequence"}, {"pretokenizers", steps}};
  }

  json xlnet_json() const {
    const std::string sep = signs_.at("sep_token"), cls = signs_.at("cls_token");
    json special = json::object();
    for (const std::string& token : {sep, cls})
      special[token] = {
          {"id", token}, {"ids", json::array({ids_.at(token)})}, {"tokens", json::array({token})}};
    const auto text = [](const char* name, int type) {
      return json{{"Sequence", {{"id", name}, {"type_id", type}}}};
    };
    const auto sign = [](const std::string& token, int type) {
      return json{{"SpecialToken", {{"id", token}, {"type_id", type}}}};
    };
    return {{"type", "TemplateProcessing"},
            {"single", json::array({text("A", 0), sign(sep, 0), sign(cls, 2)})},
            {"pair", json::array({text("A", 0), sign(sep, 0), text("B", 1), sign(sep, 1), sign(cls, 2)})},
            {"special_tokens", special}};
  }

  json post_processor_json() const {
    if (own_.kind == EncoderKind::xlnet) return xlnet_json();
    if (own_.kind == EncoderKind::camembert || own_.kind == EncoderKind::xlm_roberta) {
      const std::string begin = signs_.at("bos_token"), end = signs_.at("eos_token");
      return template_json({{begin}, {end, end}, {end}},
                           [&](const std::string& token) { return ids_.at(token); });
    }
    json processor = {{"type", "BertProcessing"}};
    for (const auto& [key, name] : {std::pair("cls", "cls_token"), std::pair("sep", "sep_token")})
      processor[key] = json::array({signs_.at(name), ids_.at(signs_.at(name))});
    return processor;
  }

  json as_json() const {
    return {{"added_tokens", added_json()},
            {"normalizer", normalizer_json()},
            {"pre_tokenizer", pre_tokenizer_json()},
            {"model", {{"type", "Unigram"}, {"unk_id", unknown_}, {"vocab", vocabulary_}}},
            {"post_processor", post_processor_json()},
            {"decoder", sign_json()}};
  }

  const EncoderClass& own_;
  const SideFiles& side_;
  std::string path_;
  JsonValues values_, settings_;
  SentencePieceModel model_;
  std::map<std::string, std::string> signs_;  // by name
  std::vector<json> vocabulary_;
  std::map<std::string, uint32_t> ids_;
  std::vector<std::pair<std::string, bool>> added_;  // whether special
  std::set<std::string> known_;
  uint32_t unknown_ = 0;
  bool strips_mask_ = false;
};

}  // namespace

std::optional<TokenizerSpec> read_encoder_pieces(const Source& source, const SideFiles& side,
                                                 DecoderNeed need) {
  std::error_code ignored;
  for (const EncoderClass& own : kEncoderClasses) {
    if (side.is_class(own.name, own.model_types) && fs::exists(source.text_files() / own.file, ignored))
      return EncoderPieces(own, source, side).read(need);
  }
  return std::nullopt;
}

}  // namespace mote::convert
