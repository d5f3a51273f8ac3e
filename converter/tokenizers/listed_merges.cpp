// SPDX-License-Identifier: Apache-2.0
//
// vocab.json and merges.txt: byte pair encoding over bytes. How text is cut into words is the class's.
#include <algorithm>
#include <string_view>

#include "converter/tokenizers/json_values.h"
#include "converter/tokenizers/piece_files.h"
#include "converter/tokenizers/tokenizer_json.h"
#include "host/base/work_budget.h"

#include "host/base/json_text.h"

namespace mote::convert {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char *kNumbersName = "vocab.json", *kMergesName = "merges.txt";

enum class ListedKind { gpt2, qwen, qwen35, roberta, clip, whisper };

struct ListedClass {
  const char *name, *model_types;
  ListedKind kind;
};
constexpr ListedClass kListedClasses[] = {
    {"GPT2Tokenizer", " gpt2 gpt_neo gptj opt phi starcoder2 codegen jais2 ", ListedKind::gpt2},
    {"CodeGenTokenizer", "", ListedKind::gpt2},
    {"Qwen2Tokenizer",
     " qwen2 qwen3 qwen2_moe qwen3_moe qwen3_next qwen2_vl qwen2_5_vl qwen3_vl qwen3_vl_moe internvl ",
     ListedKind::qwen},
    {"Qwen3_5Tokenizer", " qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text ", ListedKind::qwen35},
    {"RobertaTokenizer", " roberta roberta-prelayernorm bart longformer led data2vec-text ibert ",
     ListedKind::roberta},
    {"CLIPTokenizer", " clip clip_text_model ", ListedKind::clip},
    {"WhisperTokenizer", " whisper ", ListedKind::whisper},
};

// The expressions that cut text into words are part of how the models were trained.
constexpr const char* kQwenWords =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
constexpr const char* kListedQwen35Words =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}|"
    " ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
constexpr const char* kClipWords =
    "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";

class ListedMerges {
 public:
  ListedMerges(ListedKind kind, const Source& source, const SideFiles& side)
      : kind_(kind),
        side_(side),
        numbers_path_(source.text_files() / kNumbersName),
        merges_path_(source.text_files() / kMergesName),
        values_(numbers_path_.string()),
        settings_(side.config_path()) {}

  TokenizerSpec read(DecoderNeed need) {
    vocabulary_ = read_json_object(numbers_path_, kTokenizerJsonDepth);
    json root = {{"added_tokens", added_json()},
                 {"normalizer", normalizer_json()},
                 {"pre_tokenizer", pre_tokenizer_json()},
                 {"model", model_json()},
                 {"decoder", {{"type", "ByteLevel"}}}};
    side_.apply(root, numbers_path_.string());
    root["post_processor"] = post_processor_json(root["added_tokens"]);
    return read_tokenizer_json(root, numbers_path_.string(), need);
  }

 private:
  // ---- The model ----

  json merges_json() const {
    const MappedFile file(merges_path_);
    const JsonValues merges(merges_path_.string());
    std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    json list = json::array();
    for (size_t number = 1; !text.empty(); ++number) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      charge_work(line.size() + 1);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      if (line.empty() || line.starts_with("#version")) continue;
      const size_t space = line.find(' ');
      const bool is_pair = space != std::string_view::npos && space != 0 && space + 1 != line.size() &&
                           line.find(' ', space + 1) == std::string_view::npos;
      if (!is_pair) merges.refuse("line {} is '{}', expected two tokens", number, shown(line));
      list.push_back(std::string(line));
    }
    return list;
  }

  json model_json() const {
    json model = {{"type", "BPE"}, {"vocab", vocabulary_}, {"merges", merges_json()}};
    if (kind_ == ListedKind::clip) {
      model["end_of_word_suffix"] = "</w>";
      model["unk_token"] = sign("unk_token", "<|endoftext|>");
    }
    return model;
  }

  std::string sign(const char* name, const char* otherwise) const {
    return side_.named_token(name, otherwise);
  }

  /// CLIP's signs, where no file names its class; those of others are named.
  json added_json() const {
    json added = json::array();
    if (kind_ != ListedKind::clip) return added;
    for (const std::string& token :
         {sign("bos_token", "<|startoftext|>"), sign("eos_token", "<|endoftext|>")}) {
      if (vocabulary_.contains(token))
        added.push_back(
            {{"id", vocabulary_[token]}, {"content", token}, {"special", true}, {"normalized", false}});
    }
    return added;
  }

  // ---- Words ----

  json normalizer_json() const {
    if (kind_ == ListedKind::qwen || kind_ == ListedKind::qwen35) return {{"type", "NFC"}};
    if (kind_ != ListedKind::clip) return nullptr;
    const json spaces = {{"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", " "}};
    return {{"type", "Sequence"},
            {"normalizers", json::array({json{{"type", "NFC"}}, spaces, json{{"type", "Lowercase"}}})}};
  }

  bool has_prefix() const { return settings_.flag(side_.config(), "add_prefix_space", false); }

  static json split_json(const char* words, const char* behavior, bool invert) {
    return {{"type", "Split"}, {"pattern", {{"Regex", words}}}, {"behavior", behavior}, {"invert", invert}};
  }

  json pre_tokenizer_json() const {
    const bool own_words = kind_ == ListedKind::qwen || kind_ == ListedKind::qwen35;
    const json bytes = {{"type", "ByteLevel"},
                        {"add_prefix_space", kind_ != ListedKind::clip && has_prefix()},
                        {"use_regex", !own_words}};
    if (!own_words && kind_ != ListedKind::clip) return bytes;
    const json split = kind_ == ListedKind::clip   ? split_json(kClipWords, "Removed", true)
                       : kind_ == ListedKind::qwen ? split_json(kQwenWords, "Isolated", false)
                                                   : split_json(kListedQwen35Words, "Isolated", false);
    return {{"type", "Sequence"}, {"pretokenizers", json::array({split, bytes})}};
  }

  // ---- Signs around a text ----

  json post_processor_json(const json& added) const {
    const auto id_of = [&](const std::string& token) -> uint32_t {
      for (const json& entry : added) {
        if (entry["content"] == token) return entry["id"].get<uint32_t>();
      }
      const auto found = vocabulary_.find(token);
      if (found == vocabulary_.end()) values_.refuse("the vocabulary has no '{}'", shown(token));
      return values_.token_id(*found, token);
    };
    if (kind_ == ListedKind::roberta || kind_ == ListedKind::clip) {
      const bool roberta = kind_ == ListedKind::roberta;
      const std::string cls = roberta ? sign("cls_token", "<s>") : sign("bos_token", "<|startoftext|>");
      const std::string sep = roberta ? sign("sep_token", "</s>") : sign("eos_token", "<|endoftext|>");
      return {{"type", "RobertaProcessing"},
              {"cls", json::array({cls, id_of(cls)})},
              {"sep", json::array({sep, id_of(sep)})},
              {"trim_offsets", roberta && settings_.flag(side_.config(), "trim_offsets", true)},
              {"add_prefix_space", roberta && has_prefix()}};
    }
    if (kind_ == ListedKind::whisper)
      return template_json({{"<|startoftranscript|>", "<|notimestamps|>"}, {}, {"<|endoftext|>"}}, id_of);
    const json& config = side_.config();
    const bool begins = settings_.flag(config, "add_bos_token", false);
    const bool ends = settings_.flag(config, "add_eos_token", false);
    const bool gpt2 = kind_ == ListedKind::gpt2;
    return begin_and_end_json(begins ? sign("bos_token", gpt2 ? "<|endoftext|>" : "") : "",
                              ends ? sign("eos_token", "<|endoftext|>") : "", id_of);
  }

  ListedKind kind_;
  const SideFiles& side_;
  fs::path numbers_path_, merges_path_;
  JsonValues values_, settings_;
  json vocabulary_;
};

}  // namespace

std::optional<TokenizerSpec> read_listed_merges(const Source& source, const SideFiles& side,
                                                DecoderNeed need) {
  std::error_code ignored;
  for (const char* name : {kNumbersName, kMergesName}) {
    if (!fs::exists(source.text_files() / name, ignored)) return std::nullopt;
  }
  for (const ListedClass& own : kListedClasses) {
    if (side.is_class(own.name, own.model_types))
      return ListedMerges(own.kind, source, side.of_class(own.name)).read(need);
  }
  return std::nullopt;
}

}  // namespace mote::convert
