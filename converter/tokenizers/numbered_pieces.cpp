// SPDX-License-Identifier: Apache-2.0
//
// Tokenizers whose texts are cut by SentencePiece itself and whose pieces a vocab.json numbers: Marian's
// (Junczys-Dowmunt et al. 2018), M2M-100's (Fan et al. 2020) and Speech2Text's (Wang et al. 2020). The tokens
// around the pieces are read as a tokenizer.json would say them.
#include <algorithm>
#include <map>
#include <sstream>

#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/sentence_piece.h"
#include "converter/tokenizers/tokenizer_json.h"
#include "host/base/json_text.h"
#include "host/chat/jinja/errors.h"
#include "host/chat/jinja/unicode.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

enum class NumberedKind { marian, m2m, speech };

struct NumberedClass {
  const char *name, *model_types, *pieces;
  NumberedKind kind;
};
constexpr NumberedClass kNumberedClasses[] = {
    {"MarianTokenizer", " marian ", "source.spm", NumberedKind::marian},
    {"M2M100Tokenizer", " m2m_100 ", "sentencepiece.bpe.model", NumberedKind::m2m},
    {"Speech2TextTokenizer", " speech_to_text ", "sentencepiece.bpe.model", NumberedKind::speech},
};

// The languages of M2M-100 and of its kind for WMT 2021: their tokens follow those of the vocabulary.
constexpr const char* kM2mLanguages =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr "
    "ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or "
    "pa pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu";
constexpr const char* kWmt21Languages = "en ha is ja cs ru zh de";
// Those of Speech2Text that MuST-C trains (Di Gangi et al. 2019); their tokens are pieces.
constexpr const char* kMustcLanguages[] = {"pt", "fr", "ru", "nl", "ro", "it", "es", "de"};

std::string language_sign(const std::string& language) { return "__" + language + "__"; }

class NumberedPieces {
 public:
  NumberedPieces(const NumberedClass& own, const Source& source, const SideFiles& side)
      : own_(own),
        side_(side),
        pieces_path_(source.text_files() / own.pieces),
        vocabulary_path_((source.text_files() / "vocab.json").string()),
        values_(vocabulary_path_),
        settings_(side.config_path()) {}

  TokenizerSpec read(DecoderNeed need) {
    const std::string where = pieces_path_.string();
    const MappedFile file(pieces_path_);
    model_ = read_sentence_piece(file.bytes(), where);
    check_model(JsonValues(where));
    read_vocabulary();
    if (own_.kind == NumberedKind::speech) read_targets();
    json root = as_json();
    side_.apply(root, vocabulary_path_);
    TokenizerSpec spec = read_tokenizer_json(root, vocabulary_path_, need);
    put_sentence_piece(model_, ids_, spec);
    if (spec.pieces.empty()) values_.refuse("no piece of {} is in the vocabulary", where);
    put_texts(spec);
    return spec;
  }

 private:
  bool is_marian() const { return own_.kind == NumberedKind::marian; }

  /// Refuses settings that change ids and are not done here.
  void check_model(const JsonValues& file) const {
    if (settings_.flag(side_.config(), "separate_vocabs", false))
      settings_.refuse("separate vocabularies of sources and targets are not supported");
    if (const json* options = settings_.find(side_.config(), "sp_model_kwargs");
        options != nullptr && !options->empty())
      settings_.refuse("sp_model_kwargs are not supported");
    if (model_.segmentation != SentencePieceModel::unigram)
      file.refuse("segmentation {} is not supported, only unigram (1)", model_.segmentation);
    if (model_.spaces_behind || model_.byte_fallback || !model_.escape_spaces || model_.denormalizes)
      file.refuse(
          "spaces behind words or left as they are, pieces for bytes and denormalizers are not supported");
    for (const Piece& piece : model_.pieces) {
      // The special tokens of languages are taken out of texts before pieces are looked for.
      const bool special = own_.kind == NumberedKind::speech && is_target(piece.text) &&
                           settings_.find(side_.config(), "lang_codes") != nullptr;
      if ((piece.kind == PieceKind::user_defined && !special) || piece.kind == PieceKind::byte)
        file.refuse("the user-defined piece '{}' is not supported", shown(piece.text));
    }
  }

  // ---- Vocabulary ----

  void read_vocabulary() {
    const json all = read_json_object(vocabulary_path_, kTokenizerJsonDepth);
    tokens_.resize(all.size());
    std::vector<bool> known(all.size());
    for (const auto& [text, number] : all.items()) {
      const uint32_t id = values_.token_id(number, text);
      if (id >= known.size() || known[id])
        values_.refuse("the ids of {} tokens are not 0 to {}", known.size(), known.size() - 1);
      known[id] = true;
      tokens_[id] = text;
      ids_[text] = id;
    }
    if (own_.kind != NumberedKind::m2m) return;
    const std::string set = settings_.text(side_.config(), "language_codes", "m2m100");
    if (set != "m2m100" && set != "wmt21") settings_.refuse("language_codes '{}' are not known", shown(set));
    std::istringstream languages(set == "wmt21" ? kWmt21Languages : kM2mLanguages);
    for (std::string language; languages >> language;) languages_.push_back(language_sign(language));
  }

  static std::string target_sign(const std::string& language) { return "<lang:" + language + ">"; }
  static bool is_target(const std::string& token) {
    return std::any_of(std::begin(kMustcLanguages), std::end(kMustcLanguages),
                       [&](const char* language) { return token == target_sign(language); });
  }

  /// The languages of the texts that Speech2Text writes, one of which begins each text. The original takes
  /// their pieces' numbers for ids.
  void read_targets() {
    const json& config = side_.config();
    if (settings_.find(config, "lang_codes") == nullptr) return;
    const std::string set = settings_.text(config, "lang_codes");
    if (set != "mustc") settings_.refuse("lang_codes '{}' are not known, only mustc", shown(set));
    for (const char* language : kMustcLanguages) {
      targets_.push_back(target_sign(language));
      const uint32_t id = id_of(targets_.back());
      if (id >= model_.pieces.size() || model_.pieces[id].text != targets_.back())
        values_.refuse("'{}' has id {}, in {} another number", targets_.back(), id, pieces_path_.string());
    }
    const std::string target = settings_.text(config, "tgt_lang", kMustcLanguages[0]);
    target_ = target_sign(target);
    if (!is_target(target_)) settings_.refuse("tgt_lang '{}' is not known", shown(target));
  }

  uint32_t id_of(const std::string& token) const {
    const auto found = ids_.find(token);
    if (found != ids_.end()) return found->second;
    const auto language = std::find(languages_.begin(), languages_.end(), token);
    if (language == languages_.end()) values_.refuse("the vocabulary has no '{}'", shown(token));
    return static_cast<uint32_t>(tokens_.size() + static_cast<size_t>(language - languages_.begin()));
  }

  json added_token(const std::string& text, bool special) const {
    return {{"id", id_of(text)}, {"content", text}, {"special", special}, {"normalized", false}};
  }

  /// The vocabulary with languages' tokens, and what is added around a text.
  json as_json() const {
    json vocabulary = json::array(), added = json::array();
    for (const auto* list : {&tokens_, &languages_}) {
      for (const std::string& token : *list) vocabulary.push_back({token, 0.0});
    }
    const std::string unknown = side_.named_token("unk_token", "<unk>");
    const std::string end = side_.named_token("eos_token", "</s>");
    std::vector<std::string> named = {end, unknown, side_.named_token("pad_token", "<pad>")};
    if (!is_marian()) named.push_back(side_.named_token("bos_token", "<s>"));
    named.insert(named.end(), targets_.begin(), targets_.end());
    for (const std::string& token : named) added.push_back(added_token(token, true));
    for (const std::string& token : tokens_) {
      if (is_marian() && token.starts_with(">>") && token.ends_with("<<"))
        added.push_back(added_token(token, false));
    }
    std::vector<std::string> before;
    if (own_.kind == NumberedKind::m2m)
      before = {language_sign(settings_.text(side_.config(), "src_lang", "en"))};
    if (!target_.empty()) before = {target_};
    const json spaces = {{"type", "Replace"}, {"pattern", {{"String", kSpaceSign}}}, {"content", " "}};
    const json strip = {{"type", "Strip"}, {"content", " "}, {"start", UINT8_MAX}, {"stop", 0}};
    const auto find = [&](const std::string& token) { return id_of(token); };
    return {{"added_tokens", added},
            {"model", {{"type", "Unigram"}, {"unk_id", id_of(unknown)}, {"vocab", vocabulary}}},
            {"post_processor", template_json({before, {}, {end}}, find)},
            {"decoder", {{"type", "Sequence"}, {"decoders", json::array({spaces, strip})}}}};
  }

  /// Where languages are signs, and how tokens that are no pieces are written.
  void put_texts(TokenizerSpec& spec) const {
    for (AddedTokenSpec& token : spec.added) {
      if (is_marian() && token.text.starts_with(">>")) token.flags |= kAddedAtStart;
    }
    if (is_marian()) return;
    for (const auto& [text, id] : spec.sentence_piece->unknown_pieces) spec.tokens[id].text = text;
    if (own_.kind == NumberedKind::speech && settings_.flag(side_.config(), "do_upper_case", false))
      put_upper_case(spec);
  }

  /// Texts are large letters. do_lower_case changes none, the original only reads it.
  void put_upper_case(TokenizerSpec& spec) const {
    for (TokenSpec& token : spec.tokens) {
      if ((token.flags & kTokenSpecial) != 0) continue;
      try {
        token.text = jinja::upper(token.text);
      } catch (const jinja::Unsupported& error) {
        settings_.refuse("do_upper_case: {}", error.what());
      }
    }
  }

  const NumberedClass& own_;
  const SideFiles& side_;
  fs::path pieces_path_;
  std::string vocabulary_path_;
  JsonValues values_, settings_;
  SentencePieceModel model_;
  std::vector<std::string> tokens_, languages_, targets_;
  std::string target_;  // of the targets, that which begins texts; "": there are none
  std::map<std::string, uint32_t> ids_;
};

}  // namespace

std::optional<TokenizerSpec> read_numbered_pieces(const Source& source, const SideFiles& side,
                                                  DecoderNeed need) {
  std::error_code ignored;
  for (const NumberedClass& own : kNumberedClasses) {
    if (side.is_class(own.name, own.model_types) && fs::exists(source.text_files() / own.pieces, ignored) &&
        fs::exists(source.text_files() / "vocab.json", ignored))
      return NumberedPieces(own, source, side).read(need);
  }
  return std::nullopt;
}

}  // namespace mote::convert
