// SPDX-License-Identifier: Apache-2.0
//
// tokenizer.model: SentencePiece's byte pair encoding, whose merges follow from its pieces. Llama's and
// Gemma's classes rank them by the pieces' numbers, a tokenizer without a class by their scores.
#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/piece_files.h"
#include "converter/tokenizers/sentence_piece.h"
#include "converter/tokenizers/tokenizer_json.h"
#include "host/base/work_budget.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kPiecesFile = "tokenizer.model";

enum class MergedKind { llama, gemma, plain };

bool begins_character(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) != 0x80; }

size_t characters_in(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

class MergedPieces {
 public:
  MergedPieces(MergedKind kind, const Source& source, const SideFiles& side)
      : kind_(kind),
        side_(side),
        path_((source.text_files() / kPiecesFile).string()),
        values_(path_),
        settings_(side.config_path()) {}

  TokenizerSpec read(DecoderNeed need) {
    const MappedFile file(path_);
    model_ = read_sentence_piece(file.bytes(), path_);
    for (uint32_t id = 0; id < model_.pieces.size(); ++id) ids_[model_.pieces[id].text] = id;
    legacy_ = settings_.flag(side_.config(), "legacy", kind_ == MergedKind::plain);
    check_model();
    json root = as_json();
    side_.apply(root, path_);
    return read_tokenizer_json(root, path_, need);
  }

 private:
  bool is_unigram() const { return model_.segmentation == SentencePieceModel::unigram; }

  /// Refuses models that are not supported. A class does without the settings that it does not take from the
  /// model; a tokenizer without a class does as the model says.
  void check_model() const {
    if (is_unigram() && kind_ != MergedKind::plain)
      values_.refuse("segmentation 1 (unigram) is not supported for {}, only byte pair encoding (2)",
                     side_.tokenizer_class());
    if (!is_unigram() && model_.segmentation != SentencePieceModel::bpe)
      values_.refuse("segmentation {} is not supported, only unigram (1) and byte pair encoding (2)",
                     model_.segmentation);
    if (kind_ != MergedKind::plain) return;
    if (model_.remove_extra_spaces || !model_.character_map.empty() || !model_.escape_spaces ||
        model_.spaces_behind)
      values_.refuse(
          "normalization of its own, spaces left out or behind words are supported only for tokenizers with "
          "a class (tokenizer_class)");
    for (const Piece& piece : model_.pieces) {
      if (piece.kind == PieceKind::user_defined)
        values_.refuse("the user-defined piece '{}' of a tokenizer without a class is not supported",
                       shown(piece.text));
    }
  }

  // ---- Merges ----

  struct Pair {
    std::string_view left, right;
    uint32_t merged;
    std::tuple<double, uint64_t, uint64_t> rank;
  };

  /// Says whether a piece may be part of a merge. Classes take all.
  bool merges(uint32_t id) const {
    return kind_ != MergedKind::plain || model_.pieces[id].kind == PieceKind::normal;
  }

  /// Every way in which two pieces make a third.
  json merges_json() const {
    std::vector<Pair> pairs;
    for (uint32_t id = 0; id < model_.pieces.size(); ++id) {
      const std::string_view text = model_.pieces[id].text;
      if (!merges(id) || ids_.at(model_.pieces[id].text) != id) continue;
      for (size_t at = 1; at < text.size(); ++at) {
        if (!begins_character(text[at])) continue;
        charge_work(text.size());
        const auto left = ids_.find(text.substr(0, at)), right = ids_.find(text.substr(at));
        if (left == ids_.end() || right == ids_.end() || !merges(left->second) || !merges(right->second))
          continue;
        pairs.push_back({left->first, right->first, id, {}});
        if (kind_ == MergedKind::plain) {
          pairs.back().rank = {-double{model_.pieces[id].score}, id, 0};
        } else {
          pairs.back().rank = {static_cast<double>(id), characters_in(left->first),
                               characters_in(right->first)};
        }
      }
    }
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
      return std::tie(a.rank, a.left, a.right) < std::tie(b.rank, b.left, b.right);
    });
    json list = json::array();
    for (const Pair& pair : pairs) list.push_back({std::string(pair.left), std::string(pair.right)});
    return list;
  }

  json model_json() const {
    if (is_unigram()) {
      json scored = json::array();
      for (const Piece& piece : model_.pieces) scored.push_back({piece.text, double{piece.score}});
      return {{"type", "Unigram"},
              {"unk_id", model_.unknown_id},
              {"vocab", scored},
              {"byte_fallback", model_.byte_fallback}};
    }
    json vocabulary = json::object();
    for (const auto& [text, id] : ids_) vocabulary[std::string(text)] = id;
    json model = {{"type", "BPE"},
                  {"vocab", vocabulary},
                  {"merges", merges_json()},
                  {"fuse_unk", true},
                  {"byte_fallback", kind_ != MergedKind::plain || model_.byte_fallback}};
    if (kind_ == MergedKind::gemma) model["unk_token"] = sign("unk_token");
    if (kind_ == MergedKind::plain) model["unk_token"] = model_.unknown_piece;
    return model;
  }

  // ---- What stands around the pieces ----

  std::string sign(const std::string& name) const {
    if (kind_ == MergedKind::gemma) {
      if (name == "bos_token") return side_.named_token("bos_token", "<bos>");
      if (name == "eos_token") return side_.named_token("eos_token", "<eos>");
      return side_.named_token(name.c_str(), name == "pad_token" ? "<pad>" : "<unk>");
    }
    const bool plain = kind_ == MergedKind::plain;
    if (name == "bos_token")
      return side_.named_token("bos_token", plain && model_.begin_id >= 0 ? model_.begin_piece.c_str()
                                            : plain                       ? ""
                                                                          : "<s>");
    if (name == "eos_token")
      return side_.named_token("eos_token", plain && model_.end_id >= 0 ? model_.end_piece.c_str()
                                            : plain                     ? ""
                                                                        : "</s>");
    return side_.named_token("unk_token", plain ? model_.unknown_piece.c_str() : "<unk>");
  }

  uint32_t id_of(const std::string& token) const {
    const auto found = ids_.find(token);
    if (found == ids_.end()) values_.refuse("it has no '{}'", shown(token));
    return found->second;
  }

  json added_json() const {
    json added = json::array();
    std::set<std::string> known;
    const auto add = [&](const std::string& token, bool special) {
      if (token.empty() || ids_.count(token) == 0 || !known.insert(token).second) return;
      added.push_back(
          {{"id", ids_.at(token)}, {"content", token}, {"special", special}, {"normalized", false}});
    };
    for (const char* name : {"bos_token", "eos_token", "unk_token"}) add(sign(name), true);
    if (kind_ == MergedKind::gemma) {
      add(sign("pad_token"), true);
      const std::string mask = side_.named_token("mask_token", "<mask>");
      add(mask, true);
      if (!mask.empty() && ids_.count(mask) == 0)
        added.push_back(
            {{"id", model_.pieces.size()}, {"content", mask}, {"special", true}, {"normalized", false}});
    }
    for (const Piece& piece : model_.pieces) {
      if (piece.kind == PieceKind::control) add(piece.text, true);
      if (piece.kind == PieceKind::user_defined) add(piece.text, false);
    }
    return added;
  }

  bool has_prefix() const {
    if (kind_ == MergedKind::gemma) return false;
    return kind_ == MergedKind::plain ? model_.dummy_prefix
                                      : settings_.flag(side_.config(), "add_prefix_space", true);
  }

  json decoder_json() const {
    json steps = json::array();
    steps.push_back({{"type", "Replace"}, {"pattern", {{"String", kSpaceSign}}}, {"content", " "}});
    if (kind_ != MergedKind::plain || model_.byte_fallback) steps.push_back({{"type", "ByteFallback"}});
    steps.push_back({{"type", "Fuse"}});
    if (has_prefix()) steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
    return {{"type", "Sequence"}, {"decoders", steps}};
  }

  /// Llama's class, and any tokenizer whose prefix is of the first text alone, puts no sign before one that
  /// is there; SentencePiece does.
  void put_spaces(json& root) const {
    const json replace = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kSpaceSign}};
    const json prepend = {{"type", "Prepend"}, {"prepend", kSpaceSign}};
    const bool by_class = kind_ == MergedKind::llama || !legacy_;
    if (kind_ == MergedKind::gemma || !has_prefix()) {
      root["normalizer"] = replace;
    } else if (by_class) {
      root["pre_tokenizer"] = {{"type", "Metaspace"},
                               {"replacement", kSpaceSign},
                               {"prepend_scheme", legacy_ ? "always" : "first"},
                               {"split", false}};
    } else {
      root["normalizer"] = {{"type", "Sequence"}, {"normalizers", json::array({prepend, replace})}};
    }
  }

  json as_json() const {
    const json& config = side_.config();
    json root = {{"added_tokens", added_json()}, {"model", model_json()}, {"decoder", decoder_json()}};
    put_spaces(root);
    const bool begins = settings_.flag(config, "add_bos_token", false);
    const bool ends = settings_.flag(config, "add_eos_token", false);
    root["post_processor"] =
        begin_and_end_json(begins ? sign("bos_token") : "", ends ? sign("eos_token") : "",
                           [&](const std::string& token) { return id_of(token); });
    return root;
  }

  MergedKind kind_;
  const SideFiles& side_;
  std::string path_;
  JsonValues values_, settings_;
  SentencePieceModel model_;
  std::unordered_map<std::string_view, uint32_t> ids_;
  bool legacy_ = false;
};

}  // namespace

json begin_and_end_json(const std::string& begin, const std::string& end,
                        const std::function<uint32_t(const std::string&)>& id_of) {
  TextSigns signs;
  if (!end.empty()) {
    signs.between.push_back(end);
    signs.after.push_back(end);
  }
  if (!begin.empty()) {
    signs.before.push_back(begin);
    signs.between.push_back(begin);
  }
  return template_json(signs, id_of);
}

std::optional<TokenizerSpec> read_merged_pieces(const Source& source, const SideFiles& side,
                                                DecoderNeed need) {
  std::error_code ignored;
  if (!fs::exists(source.text_files() / kPiecesFile, ignored)) return std::nullopt;
  constexpr const char* kGemmaTypes =
      " gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text recurrent_gemma t5gemma ";
  if (side.is_class("GemmaTokenizer", kGemmaTypes))
    return MergedPieces(MergedKind::gemma, source, side).read(need);
  if (side.is_class("LlamaTokenizer", "")) return MergedPieces(MergedKind::llama, source, side).read(need);
  if (!side.tokenizer_class().empty()) return std::nullopt;
  return MergedPieces(MergedKind::plain, source, side).read(need);
}

}  // namespace mote::convert
